import { Inject, Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';
import type { Digest } from '@app/primitives';

/** Entries of one read. */
const BATCH = 500;

const UNKNOWN = `FROM keys.erasure_ledger l
  JOIN bots b ON b.id = l.bot_id AND b.deleted_at IS NULL
  LEFT JOIN deletion_requests r ON r.bot_id = l.bot_id AND r.id = l.request_id
  WHERE (r.id IS NULL OR r.status = 'failed') AND l.erased_at >= ?`;

/**
 * An erasure that is in the ledger, and in the data not at all or as failed. Entry and removal are committed together:
 * `failed` means that an earlier start could not repeat the erasure, so this one has to.
 */
export interface UnknownErasure {
  readonly bot_id: string;
  readonly request_id: string;
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly key_id: string | null;
  readonly erased_at: string;
}

/** Entries from before this ISO time are ignored: their requests may have been pruned, and no backup is that old. */
export function ledgerBegins(clock: Clock, config: Config): string {
  return clock.daysAgoIso(Math.max(config.evidenceRetentionDays, config.backupRetentionDays));
}

/**
 * Finds the erasures of present bots that are in the ledger and not in the data. Entries older than
 * {@link ledgerBegins} are left out: their requests were pruned in the ordinary way.
 */
@Injectable()
export class UnknownErasures {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The first bot behind `after` with such an erasure. */
  async nextBot(after = ''): Promise<string | undefined> {
    const sql = `SELECT l.bot_id ${UNKNOWN} AND l.bot_id > ? ORDER BY l.bot_id LIMIT 1`;
    const since = ledgerBegins(this.clock, this.config);
    return (await this.unitOfWork.read((tx) => tx.get<UnknownErasure>(sql, since, after)))?.bot_id;
  }

  /** At most {@link BATCH} of a bot. */
  of(botId: string): Promise<UnknownErasure[]> {
    return this.unitOfWork.read((tx) =>
      tx.all<UnknownErasure>(
        `SELECT l.bot_id, l.request_id, l.guild_id, l.user_id, l.key_id, l.erased_at ${UNKNOWN} AND l.bot_id = ?
         ORDER BY l.request_id LIMIT ${BATCH}`,
        ...[ledgerBegins(this.clock, this.config), botId],
      ),
    );
  }

  /** Records an erasure of a subject about which nothing is held as completed again. */
  async note(entry: UnknownErasure): Promise<void> {
    const { bot_id: botId, request_id: id, guild_id: guildId, user_id: userId } = entry;
    const { key_id: keyId, erased_at: at } = entry;
    await this.unitOfWork.write((tx) =>
      tx.run(
        `INSERT INTO deletion_requests
           (bot_id, id, guild_id, user_id, status, deleted_categories, webhook_sent, created_at, completed_at, key_id)
         VALUES (?, ?, ?, ?, 'completed', '[]', 0, ?, ?, ?) ON CONFLICT (bot_id, id) DO UPDATE
           SET status = 'completed', completed_at = excluded.completed_at, deleted_categories = '[]'
           WHERE deletion_requests.status = 'failed'`,
        ...[botId, id, guildId, userId, at, at, keyId],
      ),
    );
  }
}
