export { type AuditEventEvidence, type AuditPart, chainOf } from './audit-hashes';
export type { KeySet, PublicKey } from '../key-set';
export * from './verification-error';
export * from './signed-statement';
export * from './verify-audit';
export * from './verify-certificate';
