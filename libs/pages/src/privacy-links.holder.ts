import { Injectable } from '@nestjs/common';
import {
  amongSubjects,
  HoldsSubjectData,
  isHeld,
  isHeldElsewhere,
  type Subject,
  type SubjectDataHolder,
  SubjectDigests,
  type SubjectExport,
  type UsersErased,
} from '@app/crypto';
import { type Batches, type BotSweep, givenRows, PeriodicJob, type Tx } from '@app/database';
import { Clock } from '@app/kernel';
import { ALL_GUILDS } from './privacy-link.entity';

/** Erases the links of a subject. A link for all guilds ends with the last guild in which anything is held. */
@Injectable()
@HoldsSubjectData()
export class PrivacyLinksHolder implements SubjectDataHolder {
  readonly tables = ['privacy_links'];

  constructor(private readonly digests: SubjectDigests) {}

  /** A link holds nothing about a user beyond the ids. */
  async export(): Promise<SubjectExport> {
    return {};
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    const among = amongSubjects(tx, subjects);
    const given = givenRows(
      tx,
      ['bot_id', 'guild_id', 'user_id', 'all_guilds'],
      subjects.map(({ botId, guildId, userId }) => [
        botId,
        guildId,
        userId,
        this.digests.guild(botId, ALL_GUILDS),
      ]),
    );
    // Sent in this order without waiting: PostgreSQL needs one round trip.
    await Promise.all([
      tx.run(`DELETE FROM privacy_links WHERE ${among.sql}`, ...among.values),
      tx.run(
        `DELETE FROM privacy_links WHERE (bot_id, guild_id, user_id) IN
           (SELECT given.bot_id, given.all_guilds, given.user_id FROM ${given.sql} WHERE NOT ${isHeldElsewhere('given')})`,
        ...given.values,
      ),
    ]);
    return [];
  }

  /** A bot has few enough links to look at all of them for a user in every guild. */
  async eraseUnheld(tx: Tx, of: UsersErased): Promise<void> {
    const [column, digest] = 'userId' in of ? ['user_id', of.userId] : ['guild_id', of.guildId];
    await tx.run(
      `DELETE FROM privacy_links WHERE bot_id = ? AND ${column} = ? AND NOT ${isHeld('privacy_links')}
         AND NOT (guild_id = ? AND ${isHeldElsewhere('privacy_links')})`,
      ...[of.botId, digest, this.digests.guild(of.botId, ALL_GUILDS)],
    );
  }
}

/** Removes expired privacy links, at most an hour later. */
@PeriodicJob({ lookEveryMs: 60_000 })
@Injectable()
export class PrivacyLinksRetention implements BotSweep {
  readonly name = 'privacy-links-retention';
  readonly everyMs = 3_600_000;
  readonly bots = 'privacy_links';

  constructor(private readonly clock: Clock) {}

  async *batches(botId: string): Batches {
    yield (tx) => removeExpired(tx, botId, this.clock.confirmedIso());
  }
}

export function removeExpired(tx: Tx, botId: string, at: string): Promise<number> {
  return tx.run('DELETE FROM privacy_links WHERE bot_id = ? AND expires_at <= ?', botId, at);
}
