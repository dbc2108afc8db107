import { Inject, Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { ERASED_ID } from '@app/subjects';

/** Entries that are looked for by one walk over the subjects of their bot. */
const SOUGHT_MAX = 10_000;

const UNKNOWN = `FROM keys.erasure_ledger l
  JOIN bots b ON b.id = l.bot_id AND b.deleted_at IS NULL
  LEFT JOIN deletion_requests r ON r.bot_id = l.bot_id AND r.id = l.request_id
  WHERE (r.id IS NULL OR r.status = 'failed') AND l.erased_at >= ?`;

/**
 * An erasure that the ledger knows and the data does not, or knows as failed: entry and removal are committed together, so
 * it is the doing again that has failed, and a start that could not do it is followed by one that has to.
 */
export interface UnknownErasure {
  readonly bot_id: string;
  readonly request_id: string;
  /** The keyed digest of the subject. */
  readonly subject: string;
  readonly key_id: string | null;
  readonly erased_at: string;
}

/** From when on entries count: of what is older the evidence may be gone, and backups are. */
export function ledgerBegins(clock: Clock, config: Config): string {
  return clock.daysAgoIso(Math.max(config.evidenceRetentionDays, config.backupRetentionDays));
}

/**
 * The erasures of the ledger that the data does not know, of bots that are there. Those whose evidence has gone by its
 * age are none: the data has forgotten them in order.
 */
@Injectable()
export class UnknownErasures {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The next bot that there are any of. */
  async nextBot(after = ''): Promise<string | undefined> {
    const sql = `SELECT l.bot_id ${UNKNOWN} AND l.bot_id > ? ORDER BY l.bot_id LIMIT 1`;
    const since = ledgerBegins(this.clock, this.config);
    return (await this.unitOfWork.read((tx) => tx.get<UnknownErasure>(sql, since, after)))?.bot_id;
  }

  /** A bounded number of those of a bot. */
  of(botId: string): Promise<UnknownErasure[]> {
    return this.unitOfWork.read((tx) =>
      tx.all<UnknownErasure>(
        `SELECT l.bot_id, l.request_id, l.subject, l.key_id, l.erased_at ${UNKNOWN} AND l.bot_id = ?
         ORDER BY l.request_id LIMIT ${SOUGHT_MAX}`,
        ...[ledgerBegins(this.clock, this.config), botId],
      ),
    );
  }

  /** Of somebody about whom nothing is held: that it was done is on record again, and it is known from now on. */
  async note({ bot_id: botId, request_id: id, key_id: keyId, erased_at: at }: UnknownErasure): Promise<void> {
    await this.unitOfWork.write((tx) =>
      tx.run(
        `INSERT INTO deletion_requests
           (bot_id, id, guild_id, user_id, status, deleted_categories, webhook_sent, created_at, completed_at, key_id)
         VALUES (?, ?, ?, ?, 'completed', '[]', 0, ?, ?, ?) ON CONFLICT (bot_id, id) DO UPDATE
           SET status = 'completed', completed_at = excluded.completed_at, deleted_categories = '[]',
             guild_id = excluded.guild_id, user_id = excluded.user_id
           WHERE deletion_requests.status = 'failed'`,
        ...[botId, id, ERASED_ID, ERASED_ID, at, at, keyId],
      ),
    );
  }
}
