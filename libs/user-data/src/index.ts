export * from './stored-records';
export * from './category-retention.job';
export * from './due-counts';
export * from './user-data.entity';
export * from './user-data.module';
export * from './user-data.service';
export * from './withdrawn-data.job';
export { DueValues } from './due-values';
