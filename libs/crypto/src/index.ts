export * from './crypto.module';
export * from './keyring';
export * from './master-key';
export { addServiceKey, ServiceKeys, serviceKeys } from './service-keys';
export * from './subject-digests';
export * from './subject-key';
export { type StoredKey, SubjectKeys } from './subject-keys';
export * from './webhook-signature';
