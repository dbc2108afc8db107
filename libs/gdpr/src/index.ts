export * from './deletion-request.entity';
export * from './erasure.service';
export * from './gdpr.module';
export * from './user-forgotten.event';
