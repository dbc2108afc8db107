import { Injectable } from '@nestjs/common';
import { ConcurrentChange, databaseUnavailable, Signals, type Tx, UnitOfWork } from '@app/database';
import { Random } from '@app/kernel';
import { ifReadable, unlessDamaged, UnreadableSecretError, unlessUnreadable } from './aead';
import { amongSubjects, type NamedSubject, type Subject, subjectAt, subjectName } from './subject';
import { isDestroyed, removeKeyOf, removeKeys } from './destroyed-keys';
import { lacksIds, readyKey, withIds } from './key-ids';
import { KeyCache, newSubjectKey, type StoredKey, type SubjectKey, unsealed } from './subject-key';
import { Keyring } from './keyring';
import { SubjectDigests } from './installation-keys';
import * as sql from './subject-keys.sql';

const TOPIC = 'subject-key-destroyed';

/**
 * The keys of the subjects. A key is made when the first row about its subject is stored, and an erasure destroys it
 * (GDPR Art. 17, 32). The row of a subject in `subjects` names its key, so a subject is held as long as it has a row
 * there. Decrypted keys are cached in bounded number and time, but every use first reads the row of the subject, so that
 * a destroyed key is never used.
 */
@Injectable()
export class SubjectKeys {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keyring: Keyring,
    private readonly digests: SubjectDigests,
    private readonly signals: Signals,
    private readonly random: Random,
    private readonly opened: KeyCache,
  ) {
    signals.on(TOPIC, (id) => this.opened.drop(id));
  }

  /**
   * The key to encrypt with; a new one when the subject has none, and with the ids that `subject` has. The unit must exclude erasures of the subject until
   * its end, and must store every text that it encrypts. A key that is lost or damaged gives way to a new one.
   * @throws ApiError 503 while an erasure of the subject is not finished
   * @throws UnreadableSecretError for a key whose master key this process lacks: it is not lost
   */
  async forWriting(tx: Tx, subject: Subject | NamedSubject): Promise<SubjectKey> {
    const known = this.known(tx).get(subjectName(subject));
    if (known !== undefined && !lacksIds(known, subject)) return known;
    const { botId, guildId, userId } = subject;
    const id = known?.id ?? (await this.idOf(tx, subject));
    const found = known ?? (id === undefined ? undefined : await this.stored(tx, subject, id));
    if (found !== undefined) {
      const { keyring, digests, random } = this;
      return this.note(tx, subject, await withIds(tx, subject, found, keyring, digests, random));
    }
    if (id !== undefined) {
      // Its stored text gives way to another one, unless an erasure that is not finished has destroyed it.
      if (await isDestroyed(tx, botId, id)) throw databaseUnavailable();
      await removeKeyOf(tx, subject, id);
    }
    const made = newSubjectKey(this.digests.idsOf(subject), this.keyring, this.random);
    const inserted = await (id === undefined
      ? tx.run(sql.INSERT, botId, guildId, userId, made.id)
      : tx.run(sql.REPLACE, made.id, botId, guildId, userId, id));
    if (inserted === 0) throw new ConcurrentChange();
    await tx.run(sql.INSERT_KEY, made.id, made.sealed);
    return this.noteNew(tx, subject, made.key);
  }

  /** {@link forWriting} of a subject about whom anything is held; undefined for another one. */
  async ifHeld(tx: Tx, subject: Subject): Promise<SubjectKey | undefined> {
    const isHeld = this.known(tx).has(subjectName(subject)) || (await this.idOf(tx, subject)) !== undefined;
    return isHeld ? this.forWriting(tx, subject) : undefined;
  }

  /** {@link forWriting} for several subjects, in as few statements as possible. A subject may occur several times. */
  async allForWriting(tx: Tx, subjects: readonly Subject[]): Promise<SubjectKey[]> {
    if (tx.engine === 'postgres') {
      await this.prefetch(tx, subjects);
      await this.makeMissing(tx, subjects);
    }
    const known = this.known(tx);
    const keys: SubjectKey[] = [];
    for (const each of subjects) keys.push(readyKey(known, each) ?? (await this.forWriting(tx, each)));
    return keys;
  }

  /**
   * The key to decrypt with; undefined after its destruction. It is read outside any unit and blocks no erasure, unless
   * {@link inForce} has read it in the unit `tx`. @throws UnreadableSecretError for a key that does not open
   */
  async find(subject: Subject, tx?: Tx): Promise<SubjectKey | undefined> {
    const known = tx && this.known(tx).get(subjectName(subject));
    if (known !== undefined) return known;
    const { botId, guildId, userId } = subject;
    const found = await this.unitOfWork.get<StoredKey>(sql.FIND, botId, guildId, userId);
    return found && this.open(subject, found);
  }

  /**
   * Decrypts a key that a query of the caller has read, for example by a join.
   * @throws UnreadableSecretError for a key that was changed, or is one of another subject
   */
  open(subject: Subject, { id, sealed }: StoredKey): SubjectKey {
    const known = this.opened.get(id);
    if (known !== undefined) return known;
    const key = unsealed({ id, sealed }, this.keyring, this.random);
    const named = key.ids && this.digests.named(subject.botId, key.ids);
    if (named !== undefined && subjectName(named) !== subjectName(subject)) throw new UnreadableSecretError();
    return key.ids === undefined ? key : this.opened.set(key);
  }

  /**
   * The key that has encrypted a text, read in a unit by its id; undefined after its destruction, and for a damaged key.
   * @throws UnreadableSecretError as {@link forWriting}
   */
  async withId(tx: Tx, id: string): Promise<SubjectKey | undefined> {
    const found = await tx.get<Pick<StoredKey, 'sealed'>>(sql.SELECT_KEY, id);
    return (
      found &&
      (this.opened.get(id) ??
        ifReadable(() => unsealed({ id, ...found }, this.keyring, this.random), unlessDamaged))
    );
  }

  /**
   * The key of a subject, read in a unit; undefined after its destruction, and for a key that is lost or damaged.
   * @throws UnreadableSecretError as {@link forWriting}
   */
  async inForce(tx: Tx, subject: Subject): Promise<SubjectKey | undefined> {
    const id = await this.idOf(tx, subject);
    const found = id === undefined ? undefined : await this.stored(tx, subject, id);
    return found && this.note(tx, subject, found);
  }

  /** {@link open} of a joined key; undefined without one, and what `unless` makes of the error for one that does not open. */
  openJoined(
    subject: Subject,
    { key_id: id, key_sealed: sealed }: sql.JoinedKey,
    unless = unlessUnreadable,
  ): SubjectKey | undefined {
    return id === null || sealed === null
      ? undefined
      : ifReadable(() => this.open(subject, { id, sealed }), unless);
  }

  /** The ids that are stored with the key of a subject; undefined where it does not open, for whatever reason. */
  async idsOf(tx: Tx, subject: Subject): Promise<SubjectKey['ids']> {
    return (await this.inForce(tx, subject).catch(unlessUnreadable))?.ids;
  }

  /** The id of the subject's key, which discloses nothing about the subject; undefined when nothing is held. */
  async idOf(tx: Tx, { botId, guildId, userId }: Subject): Promise<string | undefined> {
    return (await tx.get<{ id: string }>(sql.SELECT_ID, botId, guildId, userId))?.id;
  }

  /**
   * Destroys the keys of subjects in the database, in this process, and by a signal in the memory of other processes.
   * Returns the id of each key; undefined where nothing is held about the subject.
   */
  async destroy(tx: Tx, subjects: readonly Subject[]): Promise<(string | undefined)[]> {
    const among = amongSubjects(tx, subjects);
    const remove = `DELETE FROM subjects WHERE ${among.sql} RETURNING bot_id, guild_id, user_id, key_id`;
    const destroyed = await this.destroyed(tx, await tx.all<sql.HeldRow>(remove, ...among.values));
    return subjects.map((subject) => destroyed.get(subjectName(subject)));
  }

  /** {@link destroy} of some subjects of a bot; returns their number. */
  async destroySome(tx: Tx, botId: string): Promise<number> {
    return (await this.destroyed(tx, await tx.all<sql.HeldRow>(sql.DELETE_SOME, botId, botId))).size;
  }

  /** Destroys the keys of subjects whose rows the unit has removed; returns the ids by the names of the subjects. */
  private async destroyed(tx: Tx, rows: readonly sql.HeldRow[]): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    for (const row of rows) {
      const [name, id] = [subjectName(subjectAt(row.bot_id, row)), row.key_id];
      ids.set(name, id);
      this.known(tx).delete(name);
      // On SQLite the removal of the key can be committed although the unit fails.
      if (tx.engine === 'sqlite') this.opened.drop(id);
      tx.afterCommit(() => {
        this.opened.drop(id);
        this.signals.tell(TOPIC, id);
      });
    }
    if (ids.size > 0) await removeKeys(tx, [...ids.values()]);
    return ids;
  }

  /**
   * Reads existing keys by one statement for a later {@link allForWriting} of the unit. It can be sent together with
   * other statements. On SQLite it has no use. `again`, it reads what the unit had read before it locked the subjects. A key
   * that does not open is left to {@link forWriting}.
   */
  async prefetch(tx: Tx, subjects: readonly Subject[], again?: 'again'): Promise<void> {
    if (tx.engine !== 'postgres') return;
    if (again) for (const subject of subjects) this.known(tx).delete(subjectName(subject));
    const asked = this.unknown(tx, subjects);
    if (asked.length === 0) return;
    for (const row of await tx.all<StoredKey & { place: number }>(sql.SELECT_ALL, ...sql.columnsOf(asked))) {
      const subject = asked[Number(row.place) - 1];
      const key = subject && this.openJoined(subject, { key_id: row.id, key_sealed: row.sealed });
      if (subject !== undefined && key !== undefined) this.note(tx, subject, key);
    }
  }

  /** Leaves a subject whose key is lost, or that another unit has just stored, to {@link forWriting}. */
  private async makeMissing(tx: Tx, subjects: readonly Subject[]): Promise<void> {
    const missing = this.unknown(tx, subjects);
    if (missing.length === 0) return;
    const all = missing.map((subject) => ({
      subject,
      ...newSubjectKey(this.digests.idsOf(subject), this.keyring, this.random),
    }));
    const rows = await tx.all<{ id: string }>(
      sql.INSERT_ALL,
      ...sql.columnsOf(missing),
      all.map(({ id }) => id),
      all.map(({ sealed }) => sealed),
    );
    const inserted = new Set(rows.map(({ id }) => id));
    for (const { id, subject, key } of all) if (inserted.has(id)) this.noteNew(tx, subject, key);
  }

  /** Each subject once, without the subjects whose keys the unit has read. */
  private unknown(tx: Tx, subjects: readonly Subject[]): Subject[] {
    const known = this.known(tx);
    const named = new Map(subjects.map((subject) => [subjectName(subject), subject]));
    return [...named].filter(([name]) => !known.has(name)).map(([, subject]) => subject);
  }

  /** Undefined for a key that is lost or damaged. @throws UnreadableSecretError as {@link forWriting} */
  private async stored(tx: Tx, subject: Subject, id: string): Promise<SubjectKey | undefined> {
    const known = this.opened.get(id);
    if (known !== undefined) return known;
    const found = await tx.get<Pick<StoredKey, 'sealed'>>(sql.SELECT_KEY, id);
    return found && ifReadable(() => this.open(subject, { id, sealed: found.sealed }), unlessDamaged);
  }

  /** A key that is not committed is visible to its unit only; after the commit one with ids is cached for all. */
  private noteNew(tx: Tx, subject: Subject, key: SubjectKey): SubjectKey {
    if (key.ids !== undefined) tx.afterCommit(() => void this.opened.set(key));
    return this.note(tx, subject, key);
  }

  private note(tx: Tx, subject: Subject, key: SubjectKey): SubjectKey {
    this.known(tx).set(subjectName(subject), key);
    return key;
  }

  /** The keys that the unit has read. */
  private known(tx: Tx): Map<string, SubjectKey> {
    return tx.kept(this, () => new Map<string, SubjectKey>());
  }
}
