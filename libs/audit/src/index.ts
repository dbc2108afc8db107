export * from './audit.module';
export * from './audit-period';
export * from './audit.service';
export * from './audit-event.entity';
export * from './distinct-count';
