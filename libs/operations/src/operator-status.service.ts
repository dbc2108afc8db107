import { Inject, Injectable } from '@nestjs/common';
import { appliedMigrations, engineVersion, UnitOfWork } from '@app/database';
import {
  Clock,
  CONFIG,
  type Config,
  Degradations,
  masterKeyPlace,
  SharedReading,
  version,
} from '@app/kernel';
import { conditionsOf } from './conditions';
import { findingsOf } from './findings';
import { backupTimes, circumstancesOf, InstallationReading } from './installation';
import type { FindingsView, StatusView } from './operator.dto';

/** How long one reading serves all who ask, in milliseconds. */
const STATUS_MS = 5_000;
const FINDINGS_MS = 60_000;

/** The state of the installation in words and numbers. However often it is asked, the database is read once in a while. */
@Injectable()
export class OperatorStatus {
  private readonly status: SharedReading<Omit<StatusView, 'health'>>;
  private readonly found: SharedReading<FindingsView>;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly installation: InstallationReading,
    private readonly degradations: Degradations,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.status = new SharedReading(clock, STATUS_MS, () => this.read());
    this.found = new SharedReading(clock, FINDINGS_MS, () => this.look());
  }

  /** What readiness says is of this moment and of this process. */
  async view(): Promise<StatusView> {
    const read = await this.status.get();
    const conditions = conditionsOf(this.degradations.current);
    return { health: { status: conditions.length === 0 ? 'ok' : 'degraded', conditions }, ...read };
  }

  /** What `doctor` of the command line finds. */
  async findings(): Promise<FindingsView> {
    try {
      return await this.found.get();
    } catch (error) {
      this.found.forget();
      throw error;
    }
  }

  /** After an act that the next answer has to show. */
  forget(): void {
    this.status.forget();
    this.found.forget();
  }

  private async read(): Promise<Omit<StatusView, 'health'>> {
    const { unitOfWork, config } = this;
    const { bytes, bots, suspendedBots, subjects, outbox, erasures, logs, backups } =
      await this.installation.read();
    const { applied, pending, unknown } = await appliedMigrations(unitOfWork);
    return {
      version: version(),
      node: process.version,
      started_at: new Date(this.clock.nowMs() - process.uptime() * 1000).toISOString(),
      database: { engine: config.database.engine, version: await engineVersion(unitOfWork), bytes },
      migrations: { applied: applied.length, pending: [...pending], unknown: [...unknown] },
      master_key: masterKeyPlace(config),
      tiers: [...config.tiers].map(([name, limit]) => ({ name, requests_per_minute: limit })),
      bots: { total: bots, suspended: suspendedBots },
      subjects,
      webhooks: {
        waiting: outbox.waiting,
        oldest_due: outbox.oldestDue ?? null,
        exhausted: outbox.exhausted,
        suspended_bots: outbox.suspended,
      },
      erasures: { processing: erasures.processing, oldest: erasures.oldest ?? null },
      sealing: { unsealed_logs: logs.unsealed, oldest: logs.oldestUnsealed ?? null },
      backups: backupTimes(backups),
      read_at: this.clock.nowIso(),
    };
  }

  private async look(): Promise<FindingsView> {
    const installation = await this.installation.read();
    const masterKeys = await this.installation.masterKeys();
    const findings = findingsOf(circumstancesOf(this.config, { installation, masterKeys }));
    return { findings, read_at: this.clock.nowIso() };
  }
}
