export { type DueCount, DueData } from './due-data';
export { CategoryRetention, WithdrawnDataErasure } from './due-data.job';
export { checkValues } from './stored-value';
export { type Submission, SubmitAct } from './submit.act';
export { UserDataModule } from './user-data.module';
export { countRecords } from './user-values.sql';
