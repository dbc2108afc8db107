export * from './acts';
export type { AuditEventEvidence, AuditPart } from './audit-hashes';
export type { KeySet, PublicKey } from '../key-set';
export { linesIn } from '../lines';
export * from './verification-error';
export * from './verify-statement';
export * from './verify-audit';
