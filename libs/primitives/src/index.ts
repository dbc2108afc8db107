export { isDigest, keyedDigest } from './keyed-digest';
export { inclusionPath, merkleRoot, sha256 } from './merkle';
export { type OpeningKey, type Salts, sealedBy, SEALING_KEY_BYTES, SealingKey } from './sealing-key';
export { UnreadableSecretError } from './unreadable-secret';
