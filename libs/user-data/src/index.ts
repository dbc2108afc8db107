export { CategoryRetention } from './category-retention.job';
export { ConsentedTablesErasure } from './consented-tables.job';
export { type DueCount, DueCounts } from './due-counts';
export { DueValues } from './due-values';
export { StoredRecords } from './stored-records';
export { type Submission, SubmitAct } from './submit.act';
export { UserDataModule } from './user-data.module';
export { WithdrawnDataErasure } from './withdrawn-data.job';
export { checkValues, type CheckedValues } from './value-check';
