export * from './keyed-digest';
export * from './merkle';
export * from './sealing-key';
export * from './unreadable-secret';
