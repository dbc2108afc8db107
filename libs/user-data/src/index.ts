export { CategoryRetention } from './category-retention.job';
export { type DueCount, DueData } from './due-data';
export { StoredRecords } from './stored-records';
export { type Submission, SubmitAct } from './submit.act';
export { UserDataModule } from './user-data.module';
export { WithdrawnDataErasure } from './withdrawn-data.job';
export { checkValues, type CheckedValues } from './value-check';
