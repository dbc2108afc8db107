export { type Answered, HolderError } from './answer';
export type { Round } from './holder-rounds';
export type { HolderClient } from './holder-service';
export { type HolderLoop, type HolderOptions, type HolderTimers, runHolder } from './run-holder';
export type { SigningKey } from './statement';
export type { IdAs, Keeps, Marks, Store, Who } from './store';
export * as holders from './stores';
