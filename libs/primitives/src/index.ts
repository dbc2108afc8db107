export {
  CIPHER_KEY_BYTES,
  decrypted,
  decryptedAes,
  encrypted,
  encryptionReady,
  NONCE_BYTES,
  UnreadableSecretError,
} from './aead';
export {
  type DecryptionKey,
  detailsContext,
  encryptedBy,
  EncryptionKey,
  openDetails,
  type Salts,
  type StoredDetails,
} from './encryption-key';
export { type Digest, DIGEST_LENGTH, DigestKey } from './keyed-digest';
export { inclusionPath, merkleRoot, sha256 } from './merkle';
