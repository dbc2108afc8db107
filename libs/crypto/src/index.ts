export * from './crypto.module';
export * from './keyring';
export * from './master-key';
export * from './webhook-signature';
