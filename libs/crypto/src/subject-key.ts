import { ConcurrentChange } from '@app/database';
import type { Random } from '@app/kernel';
import { type DecryptionKey, type Salts, ENCRYPTION_KEY_BYTES, EncryptionKey } from '@app/primitives';
import type { SubjectIds } from '@app/subjects';

/** Overwrites the bytes of a key that nothing can use any more, as after its removal from the cache. */
const unreachable = new FinalizationRegistry<Buffer>((bytes) => bytes.fill(0));

/**
 * The key of one subject (GDPR Art. 32(1)(a)). Each text has a random nonce. After the key is destroyed, every copy of
 * its texts is unreadable.
 */
export class SubjectKey implements DecryptionKey {
  private readonly key: EncryptionKey;
  private wiped = false;

  /** Overwrites `secret`, from which the key is derived. */
  constructor(
    readonly id: string,
    secret: Buffer,
    private readonly random: Random,
    /** The ids of the subject, which are stored with its key only. */
    readonly ids?: SubjectIds,
  ) {
    this.key = EncryptionKey.of(id, secret);
    secret.fill(0);
    unreachable.register(this, this.key.bytes);
  }

  /**
   * `context` names the place of the text, which decrypts in no other place. @throws ConcurrentChange when the key is
   * destroyed
   */
  encrypt(plain: string, context: string): string {
    return this.inForce().encrypt(plain, context, this.random.nonce());
  }

  /**
   * @throws UnreadableSecretError for a text that was changed, moved to another place or encrypted with another key;
   * ConcurrentChange when the key is destroyed
   */
  decrypt(encrypted: string, context: string): string {
    return this.inForce().decrypt(encrypted, context);
  }

  /** Salts that depend on the context and the key only. @throws ConcurrentChange when the key is destroyed */
  salts(context: string): Salts {
    return this.inForce().salts(context);
  }

  /**
   * A copy for another thread of this process, written into `target` at `at`. The receiver overwrites the copy after
   * use.
   * @throws ConcurrentChange when the key is destroyed
   */
  copy(target = new Uint8Array(ENCRYPTION_KEY_BYTES), at = 0): Uint8Array {
    target.set(this.inForce().bytes, at);
    return target;
  }

  /** Overwrites the key in memory. The key cannot be used afterwards. */
  wipe(): void {
    this.wiped = true;
    this.key.bytes.fill(0);
  }

  private inForce(): EncryptionKey {
    if (this.wiped) throw new ConcurrentChange();
    return this.key;
  }
}
