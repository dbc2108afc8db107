import { ConcurrentChange } from '@app/database';
import type { Random } from '@app/kernel';
import { type DecryptionKey, type Salts, ENCRYPTION_KEY_BYTES, EncryptionKey } from '@app/primitives';

/**
 * The key of one subject (GDPR Art. 32(1)(a)), with a random nonce for each text. Destroying it makes everything that
 * it sealed unreadable, wherever copies of that may be.
 */
export class SubjectKey implements DecryptionKey {
  private readonly key: EncryptionKey;
  private wiped = false;

  constructor(
    readonly id: string,
    secret: Buffer,
    private readonly random: Random,
  ) {
    this.key = EncryptionKey.of(id, secret);
  }

  /** `context` says where the text stands; it opens nowhere else. @throws ConcurrentChange once it was destroyed */
  encrypt(plain: string, context: string): string {
    return this.inForce().encrypt(plain, context, this.random.nonce());
  }

  /**
   * @throws UnreadableSecretError for a text that was changed, stands elsewhere, or is of another key; ConcurrentChange
   * once the key was destroyed
   */
  decrypt(sealed: string, context: string): string {
    return this.inForce().decrypt(sealed, context);
  }

  /** The same for the same context as long as the key lives, and gone with it. @throws ConcurrentChange by then */
  salts(context: string): Salts {
    return this.inForce().salts(context);
  }

  /**
   * A copy for another thread of this process, written into `target` at a place; who has used it overwrites it.
   * @throws ConcurrentChange once the key was destroyed
   */
  copy(target = new Uint8Array(ENCRYPTION_KEY_BYTES), at = 0): Uint8Array {
    target.set(this.inForce().bytes, at);
    return target;
  }

  /** Overwrites the key in memory; it is of no use after that. */
  wipe(): void {
    this.wiped = true;
    this.key.bytes.fill(0);
  }

  private inForce(): EncryptionKey {
    if (this.wiped) throw new ConcurrentChange();
    return this.key;
  }
}
