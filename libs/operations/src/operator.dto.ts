import { ApiProperty } from '@nestjs/swagger';
import { MASTER_KEY_PLACES, type MasterKeyPlace } from '@app/kernel';
import { Count, Flag, ListOf, Of, OneOf, Pagination, Snowflake, Text, Timestamp, Uuid } from '@app/http';

/** Subjects and values of a bot are counted up to this number. */
export const COUNTED_MAX = 10_000;

const Names = (description: string): PropertyDecorator =>
  ApiProperty({ type: 'array', items: { type: 'string' }, description });
const Size = (description: string): PropertyDecorator => Count({ nullable: true, description });
const Time = (description: string): PropertyDecorator => Timestamp({ nullable: true, description });

export class ConditionView {
  @Text(64, 'As in `conditions` of `/health/ready`') name: string;
  @Text(400) says: string;
  @Text(400, 'What to do') mend: string;
}

class HealthView {
  @OneOf(['ok', 'degraded'], 'Of the process that answers, at this moment') status: 'ok' | 'degraded';
  @ListOf(() => ConditionView, 0, 100) conditions: ConditionView[];
}

class DatabaseView {
  @OneOf(['sqlite', 'postgres']) engine: 'sqlite' | 'postgres';
  @Text(32) version: string;
  @Count() bytes: number;
}

class MigrationsView {
  @Count() applied: number;
  @Names('Known to this version and not applied yet') pending: string[];
  @Names('Applied by another version or module') unknown: string[];
}

class TierView {
  @Text(64) name: string;
  @Count() requests_per_minute: number;
}

class BotCountsView {
  @Count() total: number;
  @Count() suspended: number;
}

class WebhookBacklogView {
  @Count('Calls that wait; of each bot 1,000 are counted at most') waiting: number;
  @Time(
    'When the oldest call of a bot that is not suspended is due, or, if that is later, when the last call to its receiver was confirmed, or has failed',
  )
  oldest_due: string | null;
  @Count('Calls that were given up and can be sent again; of each bot 1,000 are counted at most')
  exhausted: number;
  @Count('Suspended bots with waiting calls') suspended_bots: number;
}

class ErasureBacklogView {
  @Count('Erasures that have begun and are not completed; 10,000 are counted at most') processing: number;
  @Time('When the oldest of them began') oldest: string | null;
}

class SealingBacklogView {
  @Count('Audit logs with events that are not sealed') unsealed_logs: number;
  @Time('When the oldest of these events happened') oldest: string | null;
}

class DrillView {
  @Timestamp('When it began') at: string;
  @Flag('Whether the backup restored, and everything in it could be used') ok: boolean;
  @Size('The size of the restored data and keys in bytes') bytes: number | null;
}

export class BackupsView {
  @Time('The last backup of the data on record') data: string | null;
  @Time('The last backup of the keys on record') keys: string | null;
  @Time('The last export of the ledger on record') ledger: string | null;
  @Size('The size of that backup of the data in bytes; null in a record of an older version') data_bytes:
    number | null;
  @Size('The size of that backup of the keys in bytes; null in a record of an older version') keys_bytes:
    number | null;
  @Of(DrillView, { nullable: true, description: 'The last `backup:drill`; null where none is on record' })
  drill: DrillView | null;
}

export class StatusView {
  @Of(HealthView) health: HealthView;
  @Text(32) version: string;
  @Text(32) node: string;
  @Timestamp('The start of the process that answers') started_at: string;
  @Of(DatabaseView) database: DatabaseView;
  @Of(MigrationsView) migrations: MigrationsView;
  @OneOf(
    MASTER_KEY_PLACES,
    'Where the master key is: `LETHE_MASTER_KEY` (`environment`), the key file beside the database (`file`), the file of `LETHE_MASTER_KEY_FILE`, or the output of `LETHE_MASTER_KEY_COMMAND`',
  )
  master_key: MasterKeyPlace;
  @ListOf(() => TierView, 0, 100, 'Of `RATE_LIMIT_TIERS`') tiers: TierView[];
  @Of(BotCountsView) bots: BotCountsView;
  @Count('Users in guilds about whom anything is held, of all bots; on PostgreSQL an estimate above 10,000')
  subjects: number;
  @Of(WebhookBacklogView) webhooks: WebhookBacklogView;
  @Of(ErasureBacklogView) erasures: ErasureBacklogView;
  @Of(SealingBacklogView) sealing: SealingBacklogView;
  @Of(BackupsView, { nullable: true, description: 'null for PostgreSQL, whose backups Lethe does not make' })
  backups: BackupsView | null;
  @Timestamp('When this was read from the database; one reading serves all callers for 5 seconds')
  read_at: string;
}

class FindingView {
  @Text(64) id: string;
  @OneOf(['fault', 'warning']) level: 'fault' | 'warning';
  @Text(1000) says: string;
  @Text(1000, 'What to do') mend: string;
}

export class FindingsView {
  @ListOf(() => FindingView, 0, 100, 'Faults first') findings: FindingView[];
  @Timestamp('When this was read; one reading serves all callers for a minute') read_at: string;
}

class DiskView {
  @Count() bytes: number;
  @Count() free_bytes: number;
}

class SampleView {
  @Timestamp('The first moment of the day (UTC)') at: string;
  @Count() bytes: number;
  @Count() bots: number;
  @Count('On PostgreSQL an estimate above 10,000') subjects: number;
}

export class StorageView {
  @Count('The size of the database now') bytes: number;
  @Of(DiskView, {
    nullable: true,
    description: 'Of the disks of the SQLite files the one with the least room; null for PostgreSQL',
  })
  disk: DiskView | null;
  @ListOf(() => SampleView, 0, 401, 'One for each day of the last 400 on which a process ran')
  samples: SampleView[];
}

export class OperatedBotView {
  @Uuid() id: string;
  @Snowflake() platform_bot_id: string;
  @Text(100) name: string;
  @OneOf(['active', 'suspended', 'deleting']) state: 'active' | 'suspended' | 'deleting';
  @Timestamp({ nullable: true }) suspended_at: string | null;
  @Text(64, 'The tier in force') tier: string;
  @Text(64, {
    nullable: true,
    description: 'The tier that the operator gave the bot; null for that of the settings',
  })
  stored_tier: string | null;
  @Count(`Users in guilds about whom anything is held, counted up to ${COUNTED_MAX}`) subjects: number;
  @Count(`Stored values, one for each user, guild and category, counted up to ${COUNTED_MAX}`) values: number;
  @Timestamp() created_at: string;
  @Timestamp({ nullable: true, description: 'The last use of one of its keys, up to a minute late' })
  last_used_at: string | null;
}

export class OperatedBotList {
  @ListOf(() => OperatedBotView, 0, 100) bots: OperatedBotView[];
  @Of(Pagination) pagination: Pagination;
}

export class SetTierDto {
  @Text(64, 'A tier of `RATE_LIMIT_TIERS`; `default` removes the given one, so that the settings decide')
  tier: string;
}

/** A line of the ledger: its head, an erasure, or its end. */
export class LedgerLine {
  @Text(43, 'A keyed hash over this line and the one before it') mac: string;
}
