import { eachOf, UnitOfWork } from '@app/database';
import { type Config, CONFIG, many, masterKeySetting, Random, StartError } from '@app/kernel';
import { ifReadable } from './aead';
import { Inject, Injectable } from '@nestjs/common';
import { type EncryptedColumn, EncryptedTexts, type SealedText } from './encrypted-texts';
import { Keyring } from './keyring';
import { KEY_BYTES, keyFilePath, readKeyFile, replaceKeyFile, retireKeys } from './master-key';

/** The number of texts in one unit, small enough that other units do not wait long. */
const BATCH = 500;
/** The maximum of passes over all texts. A further pass finds texts that were written with an older key meanwhile. */
const PASSES_MAX = 5;

/** A master key, and the number of texts that it has encrypted. */
export interface KeyUse {
  readonly keyId: string;
  /** `present` encrypts and decrypts, `older` decrypts, `missing` is not among the keys of this process. */
  readonly role: 'present' | 'older' | 'missing';
  readonly texts: number;
}

interface Rotated {
  readonly keyId: string;
  readonly rewrapped: number;
  /** The number of texts that their own key does not decrypt. They are damaged and stay unchanged. */
  readonly unreadable: number;
}

interface Batch {
  readonly rewrapped: number;
  readonly unreadable: number;
  /** The position after the last text; undefined after the last batch. */
  readonly reached: readonly string[] | undefined;
}

/** Reports the progress of a rotation. */
type OnRewrapped = (table: string, rewrapped: number) => void;

/**
 * Changes the master key: every text that an older key has encrypted is encrypted with the present one, and the data
 * stays in place. A rotation can be interrupted at any time and run again: each text is encrypted with the old or the
 * new key, and both are kept.
 */
@Injectable()
export class MasterKeyRotation {
  private isRotating = false;

  constructor(
    private readonly texts: EncryptedTexts,
    private readonly unitOfWork: UnitOfWork,
    private readonly keyring: Keyring,
    private readonly random: Random,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The present key first, then the older ones that are given or have encrypted something, then the missing ones. */
  async uses(): Promise<KeyUse[]> {
    const { keyring } = this;
    const counted = await this.texts.counts();
    const missing = [...counted.keys()].filter((keyId) => !keyring.ids.includes(keyId)).sort();
    const known = keyring.ids.filter((keyId) => keyring.givenIds.includes(keyId) || counted.has(keyId));
    return [...known, ...missing].map((keyId) => ({
      keyId,
      role: keyId === keyring.presentId ? 'present' : missing.includes(keyId) ? 'missing' : 'older',
      texts: counted.get(keyId) ?? 0,
    }));
  }

  /** Decrypts every text, and counts the texts that no key of this process decrypts. Changes nothing. */
  async check(): Promise<{ readonly texts: number; readonly unreadable: number }> {
    const checked = { texts: 0, unreadable: 0 };
    // No text has an empty key id.
    for await (const isReadable of this.tried('')) {
      checked.texts += 1;
      if (!isReadable) checked.unreadable += 1;
    }
    return checked;
  }

  /** Whether a key of this process decrypts it, of each text that another key than `keyId` has encrypted. */
  private async *tried(keyId: string): AsyncGenerator<boolean, void, undefined> {
    for (const column of this.texts.columns()) {
      const read = (after?: SealedText): Promise<SealedText[]> =>
        this.unitOfWork.read((tx) => this.texts.page(tx, column, keyId, after?.at ?? [], BATCH));
      for await (const text of eachOf<SealedText>(BATCH, read)) {
        const plain = this.plainOf(text);
        plain?.fill(0);
        yield plain !== undefined;
      }
    }
  }

  /**
   * Encrypts every text with the first key that the settings give. With a key file it makes a new key, which this process
   * uses at once. When no text needs the old key, the old key moves to the file of retired keys, which Lethe does not read
   * by itself. On SQLite no other process can use it, and units take turns: the units that encrypted with the old key
   * are committed before the count.
   * @throws StartError for missing keys, an older key that a process still uses, or while another rotation runs here: its end
   *   would write its own key over the newer one
   */
  async rotate(onRewrapped: OnRewrapped): Promise<Rotated> {
    if (this.isRotating)
      throw new StartError(
        'Nothing was changed: a rotation of the master key is running. Run this command again after its end, if a further key is wanted.',
      );
    this.isRotating = true;
    return this.rotated(onRewrapped).finally(() => (this.isRotating = false));
  }

  private async rotated(onRewrapped: OnRewrapped): Promise<Rotated> {
    const file = this.config.masterKeys.length === 0 ? keyFilePath(this.config) : undefined;
    if (file !== undefined && this.unitOfWork.engine === 'postgres')
      throw new StartError(
        `With PostgreSQL processes may be running that know only the key of ${file}. Set LETHE_MASTER_KEY to a new key ` +
          '(openssl rand -base64 32), a comma and the content of that file, for every process; restart them, and run keys:rotate again.',
      );
    await this.requireKeys();
    const keys = file === undefined ? this.config.masterKeys : await this.withNewKey(file);
    this.keyring.adopt(keys);
    const rotated = await this.rewrapAll(onRewrapped);
    if (file !== undefined && rotated.unreadable === 0) {
      retireKeys(file, keys.slice(1));
      replaceKeyFile(file, keys.slice(0, 1));
      this.keyring.adopt(keys.slice(0, 1));
    }
    return rotated;
  }

  /** Adds a new first key to the key file. The file is on the disk before the new key encrypts anything. */
  private async withNewKey(file: string): Promise<readonly Buffer[]> {
    const present = readKeyFile(file) ?? [];
    if (!this.keyring.isPresentAmong(present))
      throw new StartError(
        `Nothing was changed: the key file ${file} is missing or holds another key than the running process uses. Put its copy back, and run keys:rotate again.`,
      );
    if (present.length > 1) {
      this.keyring.adopt(present);
      if (!(await this.hasOnlyUnreadableLeft())) return present;
    }
    const keys = [this.random.bytes(KEY_BYTES), ...present];
    replaceKeyFile(file, keys);
    return keys;
  }

  /**
   * Whether the older keys are kept for damaged texts alone. Several keys in the file are else the trace of a rotation that
   * was interrupted, which is finished: with texts that it has not reached, or with none.
   */
  private async hasOnlyUnreadableLeft(): Promise<boolean> {
    let isOneLeft = false;
    for await (const isReadable of this.tried(this.keyring.presentId)) {
      if (isReadable) return false;
      isOneLeft = true;
    }
    return isOneLeft;
  }

  private async requireKeys(): Promise<void> {
    const missing = (await this.uses()).filter(({ role }) => role === 'missing');
    if (missing.length === 0) return;
    const named = missing.map(({ keyId, texts }) => `${keyId} (${many(texts, 'text')})`).join(', ');
    throw new StartError(
      `Nothing was changed: the master keys ${named} are missing. Add them to ${masterKeySetting(this.config)} behind the present one.`,
    );
  }

  private async rewrapAll(onRewrapped: OnRewrapped): Promise<Rotated> {
    const { keyring } = this;
    let rewrapped = 0;
    for (let pass = 1; ; pass++) {
      let unreadable = 0;
      for (const column of this.texts.columns()) {
        let done = 0;
        for (let after: readonly string[] | undefined = []; after !== undefined;) {
          const batch: Batch = await this.rewrapSome(column, after);
          done += batch.rewrapped;
          unreadable += batch.unreadable;
          after = batch.reached;
          onRewrapped(column.table, done);
        }
        rewrapped += done;
      }
      const left = (await this.uses()).filter(({ role }) => role !== 'present');
      const others = left.reduce((sum, { texts }) => sum + texts, 0);
      if (others <= unreadable) return { keyId: keyring.presentId, rewrapped, unreadable };
      if (pass === PASSES_MAX)
        throw new StartError(
          `A process still encrypts with an older key: make ${keyring.presentId} the first of ${masterKeySetting(this.config)} for every process, ` +
            'restart them, and run keys:rotate again.',
        );
    }
  }

  private rewrapSome(column: EncryptedColumn, after: readonly string[]): Promise<Batch> {
    const { keyring } = this;
    return this.unitOfWork.write(async (tx) => {
      const page = await this.texts.page(tx, column, keyring.presentId, after, BATCH);
      const opened = page.map((text) => ({ text, plain: this.plainOf(text) }));
      const replaced = await Promise.all(
        opened.map(async ({ text, plain }) => {
          if (plain === undefined) return false;
          const rewrapped = keyring.encrypt(plain, text.context);
          plain.fill(0);
          return this.texts.replace(tx, column, text, rewrapped);
        }),
      );
      return {
        rewrapped: replaced.filter(Boolean).length,
        unreadable: opened.filter(({ plain }) => plain === undefined).length,
        reached: page.length < BATCH ? undefined : page.at(-1)?.at,
      };
    });
  }

  /** The decrypted bytes; undefined for a damaged text. */
  private plainOf({ sealed, context }: SealedText): Buffer | undefined {
    return ifReadable(() => this.keyring.open(sealed, context));
  }
}
