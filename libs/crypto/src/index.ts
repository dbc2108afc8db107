export { CryptoModule } from './crypto.module';
export { Cursors } from './cursors';
export {
  type DestroyedKey,
  isDestroyed,
  keysDestroyedUntil,
  erasureDays,
  ledgerBegins,
  ledgerEntriesOf,
  noteDeletedBot,
  type NotedErasure,
  orphanKeys,
  removeOrphans,
  storedAgain,
  storedOrphans,
} from './destroyed-keys';
export { type EncryptedColumn, type EncryptedTextHolder, HoldsEncryptedTexts } from './encrypted-texts';
export { HeldSubjects } from './held-subjects';
export { InstallationKeys, SubjectDigests } from './installation-keys';
export { KeyRewrite } from './key-rewrite';
export { type KeyUse, MasterKeyRotation } from './master-key-rotation';
export { Keyring } from './keyring';
export { missingKeys, removeKeysOf, replaceUnopened, type Unopened, unopenedKeys } from './opened-keys';
export { keyFilePath, presentMasterKeys, retiredKeysPath } from './master-key';
export { Signer } from './signer';
export { countSubjects, countSubjectsOf } from './subject-counts';
export { subjectKeyIdOf } from './key-ids';
export { KeyCache, SubjectKey } from './subject-key';
export { SubjectKeys } from './subject-keys';
export {
  isHeld,
  isHeldElsewhere,
  type JoinedKey,
  SELECT_ID as SELECT_KEY_ID,
  subjectKeyJoin,
} from './subject-keys.sql';
export { SubjectTexts } from './subject-texts';
export {
  type ConsentedDataHolder,
  ConsentedDataHolders,
  type DecidedConsent,
  EndsWithDeclaration,
  type ErasedPart,
  type ErasedParts,
  type ErasureTime,
  hasMore,
  type HeldRows,
  HoldsConsentedData,
} from './consented-data';
export {
  type ConsentedTable,
  type ErasedCategory,
  HoldsSubjectData,
  requireReadable,
  type SubjectDataHolder,
  type UsersErased,
  SubjectDataHolders,
  type SubjectExport,
} from './subject-data';
export {
  amongSubjects,
  ERASED_ID,
  ERASED_IDS,
  givenSubjects,
  guildOf,
  lockSubject,
  lockSubjects,
  type NamedSubject,
  sameSubject,
  SCOPES,
  type Subject,
  SUBJECT_KEY,
  SUBJECT_WHERE,
  subjectAt,
  type SubjectIds,
  subjectName,
  subjectOf,
  subjectValues,
  tryLockSubjects,
  withoutIndex,
} from './subject';
export { encryptionReady, ifReadable, unlessDamaged, unlessUnreadable, UnreadableSecretError } from './aead';
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
export { gdprSignature, newWebhookSecret, publicSignature, standardSignature } from './webhook-signatures';
