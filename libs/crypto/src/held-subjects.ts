import {
  BelongsToBot,
  IdColumn,
  pages,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  type Tx,
  UnitOfWork,
} from '@app/database';
import { type Digest, DIGEST_LENGTH } from './keyed-digest';
import {
  ERASED_ID,
  ERASED_IDS,
  type NamedSubject,
  type Subject,
  SUBJECT_WHERE,
  type SubjectIds,
  subjectValues,
} from './subject';
import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Entity, Index } from 'typeorm';
import { SubjectDigests } from './installation-keys';
import { SubjectKeys } from './subject-keys';
import type { JoinedKey } from './subject-keys.sql';

/** A subject about whom anything is held, and the id of its key. */
@Entity('subjects')
@Index(['botId', 'userId', 'guildId'])
@Index(['keyId'])
export class HeldSubject {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @IdColumn({ name: 'key_id' }) keyId: string;
  @BelongsToBot('subjects') bot?: object;
}

/** Neither an id nor a digest is longer, in characters. A digest of a much longer text cannot be made. */
const NAME_MAX = Math.max(ERASED_ID.length, DIGEST_LENGTH);

/** Guilds of one read. Each needs its key decrypted, and other requests are answered in between. */
const PAGE = 200;

const IN_GUILDS = `SELECT guild_id, key_id, sealed AS key_sealed
  FROM subjects LEFT JOIN keys.subject_keys stored ON stored.id = key_id
  WHERE bot_id = ? AND user_id = ? AND guild_id > ? ORDER BY guild_id LIMIT ${PAGE}`;

/** The users of a bot by guild, those of one guild, one user by guild, or one of them: what is not named is the order. */
const WALK = (place: readonly ('guild_id' | 'user_id')[]): string => {
  const named = (['guild_id', 'user_id'] as const).filter((column) => !place.includes(column));
  const where = ['bot_id', ...named].map((column) => `${column} = ?`).join(' AND ');
  const after = `(${place.join(', ')}) > (${place.map(() => '?').join(', ')})`;
  return `SELECT guild_id, user_id FROM subjects WHERE ${where}${
    place.length > 0 ? ` AND ${after} ORDER BY ${place.join(', ')}` : ''
  } LIMIT ?`;
};

const KEY_OF = `SELECT key_id, sealed AS key_sealed
  FROM subjects LEFT JOIN keys.subject_keys stored ON stored.id = key_id WHERE ${SUBJECT_WHERE}`;

type Row = JoinedKey & { readonly guild_id: Digest };

/** Lists the subjects about whom anything is held: they have a row in `subjects`. */
@Injectable()
export class HeldSubjects {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
  ) {}

  /**
   * The digests of held subjects of a bot, of one guild or of one user, after the place `after`, in the order of the digests.
   * An index has them in this order.
   */
  async walk(
    tx: Tx,
    { botId, guildId, userId }: Pick<Subject, 'botId'> & Partial<Subject>,
    after: Pick<Subject, 'guildId' | 'userId'> | undefined,
    limit: number,
  ): Promise<Subject[]> {
    const place = [guildId === undefined && 'guild_id', userId === undefined && 'user_id'] as const;
    const columns = place.filter((column) => column !== false);
    const from = { guild_id: after?.guildId ?? '', user_id: after?.userId ?? '' };
    const named = [guildId, userId].filter((digest) => digest !== undefined);
    const values = [botId, ...named, ...columns.map((column) => from[column]), limit];
    const rows = await tx.all<{ guild_id: Digest; user_id: Digest }>(WALK(columns), ...values);
    return rows.map((row) => ({ botId, guildId: row.guild_id, userId: row.user_id }));
  }

  /**
   * The ids of subjects, in their order: undefined for a subject about whom nothing is held, such as an erased one, and null
   * for one whose key is lost.
   */
  async idsOf(tx: Tx, subjects: readonly Subject[]): Promise<(SubjectIds | null | undefined)[]> {
    const found = await tx.each<JoinedKey>(KEY_OF, subjects.map(subjectValues));
    return subjects.map((subject, at) => {
      const row = found[at]?.[0];
      return row && (this.keys.openJoined(subject, row)?.ids ?? null);
    });
  }

  /** A user in the guild that an id names, or a digest where the key is lost; undefined where nothing is held there. */
  async inGuildNamed(botId: string, user_id: string, name: string): Promise<NamedSubject | undefined> {
    if (name.length > NAME_MAX) return undefined;
    const named = this.digests.named(botId, { user_id, guild_id: name });
    const lost = { ...named, guildId: name as Digest, ids: { ...ERASED_IDS, user_id } };
    const [byId, byDigest] = await this.unitOfWork.read((tx) => this.idsOf(tx, [named, lost]));
    if (byId != null) return named;
    return byDigest === null ? lost : undefined;
  }

  /**
   * A user in every guild, ordered by guild, or in `most` of them at least. A lost key has zeros as its guild. There are several reads: a subject that is
   * stored or erased meanwhile may be in the list or not.
   */
  async inAllGuilds(botId: string, user_id: string, most = Infinity): Promise<NamedSubject[]> {
    const userId = this.digests.user(botId, user_id);
    const read = (after?: Row): Promise<Row[]> =>
      this.unitOfWork.read((tx) => tx.all<Row>(IN_GUILDS, botId, userId, after?.guild_id ?? ''));
    const subjects: NamedSubject[] = [];
    for await (const page of pages(PAGE, read)) {
      for (const row of page) {
        const subject = { botId, guildId: row.guild_id, userId };
        const ids = this.keys.openJoined(subject, row)?.ids ?? { ...ERASED_IDS, user_id };
        subjects.push({ ...subject, ids });
      }
      if (subjects.length >= most) break;
      await nextTurn();
    }
    return subjects.sort((one, other) => (one.ids.guild_id < other.ids.guild_id ? -1 : 1));
  }
}
