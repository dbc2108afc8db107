export * from './deletion-request.entity';
export * from './user-forgotten.event';
