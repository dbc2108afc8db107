export { CIPHER_KEY_BYTES, decrypted, decryptedAes, encrypted, encryptionReady, NONCE_BYTES } from './aead';
export {
  type DecryptionKey,
  encryptedBy,
  ENCRYPTION_KEY_BYTES,
  EncryptionKey,
  type Salts,
} from './encryption-key';
export { type Digest, DIGEST_LENGTH, DigestKey } from './keyed-digest';
export { inclusionPath, merkleRoot, sha256 } from './merkle';
export { detailsContext, openDetails, type StoredDetails } from './stored-details';
export { UnreadableSecretError } from './unreadable-secret';
