export * from './audit.module';
export * from './audit.service';
export * from './audit-event.entity';
