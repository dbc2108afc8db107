import type { INestApplicationContext } from '@nestjs/common';
import { countBots } from '@app/bots';
import { countSubjects, KeyRotation, type KeyUse } from '@app/crypto';
import { databaseBytes, UnitOfWork } from '@app/database';
import { oldestErasure } from '@app/gdpr';
import type { Config } from '@app/kernel';
import { type BackupRecord, lastBackups } from '@app/operations';
import { RetentionPreview } from '@app/reports';
import { logState, type LogState } from '@app/sealing';
import { outboxState, type OutboxState } from '@app/webhooks';

/** What the database tells about an installation: counts and times, and nothing about a user. */
export interface Installation {
  readonly bytes: number;
  readonly bots: number;
  readonly suspendedBots: number;
  readonly subjects: number;
  readonly outbox: OutboxState;
  readonly oldestErasure: string | undefined;
  readonly logs: LogState;
  /** Values that retention would erase now. */
  readonly dueValues: number;
  readonly masterKeys: readonly KeyUse[];
  /** Undefined for PostgreSQL, whose backups Lethe does not make. */
  readonly backups: BackupRecord | undefined;
}

/** Reads an installation, also while the service runs. */
export async function installationOf(nest: INestApplicationContext, config: Config): Promise<Installation> {
  const unitOfWork = nest.get(UnitOfWork);
  const { bots, suspended } = await countBots(unitOfWork);
  let dueValues = 0;
  for await (const { due } of nest.get(RetentionPreview).ofAllBots())
    for (const { values } of due) dueValues += values;
  return {
    bytes: await databaseBytes(unitOfWork, config),
    bots,
    suspendedBots: suspended,
    subjects: await countSubjects(unitOfWork),
    outbox: await outboxState(unitOfWork),
    oldestErasure: await oldestErasure(unitOfWork),
    logs: await logState(unitOfWork),
    dueValues,
    masterKeys: await nest.get(KeyRotation).uses(),
    backups: config.database.engine === 'sqlite' ? lastBackups(config.database.path) : undefined,
  };
}

/** Something that an operator should change. A fault fails `doctor`, a warning does not. */
export interface Finding {
  readonly id: string;
  readonly level: 'fault' | 'warning';
  readonly says: string;
  /** What mends it. */
  readonly mend: string;
}

/** What `doctor` looks at. */
export interface Circumstances {
  readonly config: Config;
  /** Undefined for a database that cannot be read. */
  readonly installation: Installation | undefined;
  readonly nowMs: number;
  /** The version of Node.js. */
  readonly node: string;
  /** Undefined where LETHE_MASTER_KEY is set. */
  readonly keyFile: { readonly path: string; readonly mode: number | undefined } | undefined;
  /** The mode of a file `.env` in the working folder. */
  readonly environmentMode: number | undefined;
  /** The disk of a SQLite file. */
  readonly disk: { readonly freeBytes: number; readonly bytes: number } | undefined;
  /** The device that holds a path; undefined if there is nothing. */
  readonly deviceOf: (path: string) => number | undefined;
}

/** The result of one look: a finding, if there is something to mend. */
export type Look = Finding | false | undefined;
