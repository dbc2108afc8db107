export * from './categories.module';
export * from './categories.service';
export * from './category.entity';
export * from './category-declarations';
export * from './category-deleted.event';
export * from './declared-purposes';
export * from './declared-values';
