import {
  BelongsToBot,
  IdColumn,
  indexName,
  pages,
  PrimaryDigestColumn,
  PrimaryIdColumn,
  type Tx,
  UnitOfWork,
} from '@app/database';
import type { Digest } from './keyed-digest';
import { ERASED_IDS, type NamedSubject } from './subject';
import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Entity, Index } from 'typeorm';
import { SubjectDigests } from './installation-keys';
import { SubjectKeys } from './subject-keys';
import type { JoinedKey } from './subject-keys.sql';

/** A subject about whom anything is held, and the id of its key. */
@Entity('subjects')
@Index(indexName('subjects', ['bot_id', 'user_id', 'guild_id']), ['botId', 'userId', 'guildId'])
@Index(indexName('subjects', ['key_id']), ['keyId'])
export class HeldSubject {
  @PrimaryIdColumn({ name: 'bot_id' }) botId: string;
  @PrimaryDigestColumn({ name: 'guild_id' }) guildId: Digest;
  @PrimaryDigestColumn({ name: 'user_id' }) userId: Digest;
  @IdColumn({ name: 'key_id' }) keyId: string;
  @BelongsToBot('subjects') bot?: object;
}

/** Guilds of one read. Each needs its key decrypted, and other requests are answered in between. */
const PAGE = 200;

const IN_GUILDS = `SELECT guild_id, key_id, sealed AS key_sealed
  FROM subjects LEFT JOIN keys.subject_keys stored ON stored.id = key_id
  WHERE bot_id = ? AND user_id = ? AND guild_id > ? ORDER BY guild_id LIMIT ${PAGE}`;

type Row = JoinedKey & { readonly guild_id: Digest };

/** Lists the subjects about whom anything is held: they have a row in `subjects`. */
@Injectable()
export class HeldSubjects {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly digests: SubjectDigests,
    private readonly keys: SubjectKeys,
  ) {}

  /** Some users of a guild. */
  async usersOf(tx: Tx, botId: string, guildId: Digest, limit: number): Promise<Digest[]> {
    const select = `SELECT user_id FROM subjects WHERE bot_id = ? AND guild_id = ? LIMIT ${limit}`;
    return (await tx.all<{ user_id: Digest }>(select, botId, guildId)).map((row) => row.user_id);
  }

  /**
   * A user in every guild, ordered by guild. A lost key has zeros as its guild. There are several reads: a subject that is
   * stored or erased meanwhile may be in the list or not.
   */
  async inAllGuilds(botId: string, user_id: string): Promise<NamedSubject[]> {
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
      await nextTurn();
    }
    return subjects.sort((one, other) => (one.ids.guild_id < other.ids.guild_id ? -1 : 1));
  }
}
