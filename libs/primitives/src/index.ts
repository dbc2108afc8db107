export { isDigest, keyedDigest } from './keyed-digest';
export { inclusionPath, merkleRoot, sha256 } from './merkle';
export { type OpeningKey, type Salts, sealedBy, SEALING_KEY_BYTES, SealingKey } from './sealing-key';
export { detailsContext, openDetails, type StoredDetails } from './stored-details';
export { UnreadableSecretError } from './unreadable-secret';
