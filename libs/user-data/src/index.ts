export * from './stored-records';
export * from './user-data.entity';
export * from './user-data.module';
export * from './user-data.service';
