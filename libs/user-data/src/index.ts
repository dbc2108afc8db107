export { CorrectAct, type Corrected, DataCorrected, isValueChanged } from './correct.act';
export { CategoryRetention, type DueCount, DueData, WithdrawnDataErasure } from './due-data';
export type { RefusalsView } from './processing-refusals.dto';
export { ProcessingRefusals } from './processing-refusals.service';
export { checkValues } from './stored-value';
export { type Submission, SubmitAct } from './submit.act';
export { UserDataModule } from './user-data.module';
export { UserValues } from './user-values.service';
export { countRecords, countValuesOf } from './user-values.sql';
