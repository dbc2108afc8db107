export { CategoryRetention } from './category-retention.job';
export { ConsentedTablesErasure } from './consented-tables.job';
export { type DueCount, DueCounts } from './due-counts';
export { DueValues } from './due-values';
export { StoredRecords } from './stored-records';
export { UserDataModule } from './user-data.module';
export { UserDataService } from './user-data.service';
export { WithdrawnDataErasure } from './withdrawn-data.job';
export { checkValues, type CheckedValues } from './value-check';
