import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { pages, type Tx, UnitOfWork } from '@app/database';
import type { Digest } from '@app/primitives';
import { ERASED_IDS, type NamedSubject } from '@app/subjects';
import { SubjectDigests } from './subject-digests';
import { SubjectKeys } from './subject-keys';
import { IN_GUILDS_BEHIND, type JoinedKey } from './subject-keys.sql';

/** Guilds of one read. Each needs its key decrypted, and other requests are answered in between. */
const PAGE = 200;

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
   * stored or erased meanwhile may be among the answers or not.
   */
  async inAllGuilds(botId: string, user_id: string): Promise<NamedSubject[]> {
    const userId = this.digests.user(botId, user_id);
    const read = (after?: Row): Promise<Row[]> =>
      this.unitOfWork.read((tx) =>
        tx.all<Row>(`${IN_GUILDS_BEHIND} LIMIT ${PAGE}`, botId, userId, after?.guild_id ?? ''),
      );
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
