export { type Answered, HolderError } from './answer';
export type { ExportAnswer, ExportData, StoreData } from './export-answer';
export type { DoneTask, Round } from './holder-rounds';
export type { HolderClient } from './holder-service';
export { type HolderLoop, type HolderOptions, type HolderTimers, runHolder } from './run-holder';
export type { SigningKey } from './statement';
export type { Exported, IdAs, Keeps, Marks, Room, Store, Who } from './store';
export * as holders from './stores';
