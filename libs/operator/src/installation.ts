import { Inject, Injectable } from '@nestjs/common';
import { countBots } from '@app/bots';
import { countSubjects, KeyRotation, type KeyUse } from '@app/crypto';
import { databaseBytes, UnitOfWork } from '@app/database';
import { type ErasureBacklog, erasureBacklog } from '@app/erasure';
import { CONFIG, type Config } from '@app/kernel';
import { type BackupRecord, lastBackups } from '@app/operations';
import { logState, type LogState } from '@app/sealing';
import { outboxState, type OutboxState } from '@app/webhooks';

/** What the database tells about an installation: counts and times, and nothing about a user. */
export interface Installation {
  readonly bytes: number;
  readonly bots: number;
  readonly suspendedBots: number;
  readonly subjects: number;
  readonly outbox: OutboxState;
  readonly erasures: ErasureBacklog;
  readonly logs: LogState;
  /** Undefined for PostgreSQL, whose backups Lethe does not make. */
  readonly backups: BackupRecord | undefined;
}

/** Reads an installation, also while the service runs: in several short units beside those of bots. */
@Injectable()
export class InstallationReading {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly rotation: KeyRotation,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async read(): Promise<Installation> {
    const { unitOfWork, config } = this;
    const { bots, suspended } = await countBots(unitOfWork);
    return {
      bytes: await databaseBytes(unitOfWork, config),
      bots,
      suspendedBots: suspended,
      subjects: await countSubjects(unitOfWork),
      outbox: await outboxState(unitOfWork),
      erasures: await erasureBacklog(unitOfWork),
      logs: await logState(unitOfWork),
      backups: config.database.engine === 'sqlite' ? lastBackups(config.database.path) : undefined,
    };
  }

  /** Which master keys are used. It reads every key of every subject, page by page. */
  masterKeys(): Promise<KeyUse[]> {
    return this.rotation.uses();
  }
}
