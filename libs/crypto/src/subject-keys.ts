import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConcurrentChange, Signals, type Tx, UnitOfWork } from '@app/database';
import { Clock, Random } from '@app/kernel';
import { type Subject, SUBJECT_WHERE, subjectName } from '@app/subjects';
import { KeyCache } from './key-cache';
import { Keyring } from './keyring';
import { SubjectKey } from './subject-key';

const SECRET_BYTES = 32;
const ID_LENGTH = 12;
const TOPIC = 'subject-key-destroyed';

const SELECT = `SELECT id, sealed FROM keys.subject_keys WHERE ${SUBJECT_WHERE}`;
const SELECT_ALL = `SELECT place, id, sealed
  FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS given (bot_id, guild_id, user_id, place)
  JOIN keys.subject_keys USING (bot_id, guild_id, user_id)`;
const INSERT = `INSERT INTO keys.subject_keys (bot_id, guild_id, user_id, id, sealed, created_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const INSERT_ALL = `INSERT INTO keys.subject_keys (bot_id, guild_id, user_id, id, sealed, created_at)
  SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]) AS given ORDER BY 1, 2, 3
  ON CONFLICT DO NOTHING`;

/** For a statement over rows of subjects, `event`: the key of each subject as `key_id` and `key_sealed`, if there is one. */
export const EVENT_KEY = {
  columns: 'stored.id AS key_id, stored.sealed AS key_sealed',
  join: `LEFT JOIN keys.subject_keys stored
    ON stored.bot_id = event.bot_id AND stored.guild_id = event.guild_id AND stored.user_id = event.user_id`,
} as const;

/** A key as it is stored: under the key of the keyring, with the subject as its context. */
export interface StoredKey {
  readonly id: string;
  readonly sealed: string;
}

/**
 * The keys of the subjects. A key is made when the first text about its subject is stored, and an erasure destroys it
 * (GDPR Art. 17, 32). Decrypted keys are cached in bounded number and time, but every use first reads the key's row, so
 * that a destroyed key is never used.
 */
@Injectable()
export class SubjectKeys {
  private readonly opened = new KeyCache();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keyring: Keyring,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    signals.on(TOPIC, (id) => this.opened.drop(id));
  }

  /**
   * The key to encrypt with; a new one when the subject has none. The unit must exclude erasures of the subject until
   * its end, and must store every text that it encrypts.
   */
  async forWriting(tx: Tx, subject: Subject): Promise<SubjectKey> {
    const known = this.known(tx).get(subjectName(subject));
    if (known !== undefined) return known;
    const { botId, guildId, userId } = subject;
    const found = await tx.get<StoredKey>(SELECT, botId, guildId, userId);
    return found === undefined ? this.make(tx, subject) : this.note(tx, subject, this.open(subject, found));
  }

  /** {@link forWriting} for several subjects, in as few statements as possible. A subject may occur several times. */
  async allForWriting(tx: Tx, subjects: readonly Subject[]): Promise<SubjectKey[]> {
    if (tx.engine === 'postgres') {
      await this.prefetch(tx, subjects);
      await this.makeMissing(tx, subjects);
    }
    const keys: SubjectKey[] = [];
    for (const subject of subjects) keys.push(await this.forWriting(tx, subject));
    return keys;
  }

  /** The key to decrypt with; undefined after its destruction. It is read outside any unit and blocks no erasure. */
  async find(subject: Subject): Promise<SubjectKey | undefined> {
    const { botId, guildId, userId } = subject;
    const found = await this.unitOfWork.get<StoredKey>(SELECT, botId, guildId, userId);
    return found && this.open(subject, found);
  }

  /** Decrypts a key that a query of the caller has read, for example by a join. */
  open(subject: Subject, stored: StoredKey): SubjectKey {
    return this.opened.get(stored.id) ?? this.keep(stored.id, this.secretOf(subject, stored));
  }

  /** The id of the subject's key, which discloses nothing about the subject; undefined when there is no key. */
  async idOf(tx: Tx, { botId, guildId, userId }: Subject): Promise<string | undefined> {
    return (await tx.get<StoredKey>(SELECT, botId, guildId, userId))?.id;
  }

  /**
   * Destroys the key of a subject in the database, in this process, and by a signal in the memory of other processes. A
   * missing key is no error.
   */
  async destroy(tx: Tx, subject: Subject): Promise<void> {
    const { botId, guildId, userId } = subject;
    const id = await this.idOf(tx, subject);
    if (id === undefined) return;
    await tx.run(`DELETE FROM keys.subject_keys WHERE ${SUBJECT_WHERE}`, botId, guildId, userId);
    this.known(tx).delete(subjectName(subject));
    tx.afterCommit(() => {
      this.opened.drop(id);
      this.signals.tell(TOPIC, id);
    });
  }

  /**
   * Reads existing keys by one statement for a later {@link allForWriting} of the unit. It can be sent together with
   * other statements. On SQLite it has no use.
   */
  async prefetch(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    const asked = this.unknown(tx, subjects);
    if (tx.engine !== 'postgres' || asked.length === 0) return;
    for (const row of await tx.all<StoredKey & { place: number }>(SELECT_ALL, ...columnsOf(asked))) {
      const subject = asked[Number(row.place) - 1];
      if (subject !== undefined) this.note(tx, subject, this.open(subject, row));
    }
  }

  private async makeMissing(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    const missing = this.unknown(tx, subjects);
    if (missing.length === 0) return;
    const made = missing.map((subject) => ({ subject, ...this.newKey(subject) }));
    const now = this.clock.nowIso();
    const inserted = await tx.run(
      INSERT_ALL,
      ...columnsOf(missing),
      made.map(({ id }) => id),
      made.map(({ sealed }) => sealed),
      made.map(() => now),
    );
    if (inserted < missing.length) throw new ConcurrentChange();
    for (const { subject, id, secret } of made)
      this.noteNew(tx, subject, new SubjectKey(id, secret, this.random));
  }

  /** Each subject once, without the subjects whose keys the unit has read. */
  private unknown(tx: Tx, subjects: readonly Subject[]): Subject[] {
    const known = this.known(tx);
    const named = new Map(subjects.map((subject) => [subjectName(subject), subject]));
    return [...named].filter(([name]) => !known.has(name)).map(([, subject]) => subject);
  }

  private async make(tx: Tx, subject: Subject): Promise<SubjectKey> {
    const { botId, guildId, userId } = subject;
    const { id, secret, sealed } = this.newKey(subject);
    const inserted = await tx.run(INSERT, botId, guildId, userId, id, sealed, this.clock.nowIso());
    if (inserted === 0) throw new ConcurrentChange();
    return this.noteNew(tx, subject, new SubjectKey(id, secret, this.random));
  }

  private newKey(subject: Subject): StoredKey & { secret: Buffer } {
    const secret = this.random.bytes(SECRET_BYTES);
    const id = fingerprintOf(secret);
    return { id, secret, sealed: this.keyring.encrypt(secret.toString('base64url'), contextOf(subject, id)) };
  }

  private secretOf(subject: Subject, { id, sealed }: StoredKey): Buffer {
    return Buffer.from(this.keyring.decrypt(sealed, contextOf(subject, id)), 'base64url');
  }

  private keep(id: string, secret: Buffer): SubjectKey {
    const key = new SubjectKey(id, secret, this.random);
    this.opened.set(id, key);
    return key;
  }

  /** A key that is not committed is visible to its unit only; after the commit it is cached for all. */
  private noteNew(tx: Tx, subject: Subject, key: SubjectKey): SubjectKey {
    tx.afterCommit(() => this.opened.set(key.id, key));
    return this.note(tx, subject, key);
  }

  private note(tx: Tx, subject: Subject, key: SubjectKey): SubjectKey {
    this.known(tx).set(subjectName(subject), key);
    return key;
  }

  /** The keys that the unit has read. */
  private known(tx: Tx): Map<string, SubjectKey> {
    return tx.kept(this, newKeys);
  }
}

const newKeys = (): Map<string, SubjectKey> => new Map();

/**
 * Identifies a key, also after its destruction. The key cannot be found from the fingerprint, but a copy of the key can
 * be recognised.
 */
function fingerprintOf(secret: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('lethe/subject-key/'), secret]), 'base64url').slice(
    0,
    ID_LENGTH,
  );
}

/** What a stored key is bound to: it opens for no other subject. */
export function contextOf(subject: Subject, id: string): string {
  return `subject_keys/${subjectName(subject)}/${id}`;
}

function columnsOf(subjects: readonly Subject[]): [string[], string[], string[]] {
  return [
    subjects.map(({ botId }) => botId),
    subjects.map(({ guildId }) => guildId),
    subjects.map(({ userId }) => userId),
  ];
}
