import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { countBots } from '@app/bots';
import { countSubjects, keyFilePath, type KeyUse, MasterKeyRotation, retiredKeysPath } from '@app/crypto';
import { databaseBytes, keepsFilesOfLog, keysPath, UnitOfWork } from '@app/database';
import { type ErasureBacklog, erasureBacklog, orphansKeptUntil } from '@app/gdpr';
import { Clock, type Config, CONFIG } from '@app/kernel';
import { logState, type LogState } from '@app/sealing';
import { outboxState, type OutboxState } from '@app/webhooks';
import type { BackupsView } from './operator.dto';
import { replacedFiles } from './sqlite.restore.place';
import { type BackupRecord, lastBackups, unreadableRecord } from './sqlite.backup-record';

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
  /** Until when many keys are kept that no subject has; undefined where there are few. */
  readonly orphansKeptUntil?: string | undefined;
  /** Whether PostgreSQL keeps the files of its log for new uses. */
  readonly keepsFilesOfLog: boolean;
}

/** When each part was copied last and how large it was, and the last drill; null for PostgreSQL, whose backups Lethe does not make. */
export function backupTimes(backups: BackupRecord | undefined): BackupsView | null {
  if (backups === undefined) return null;
  const { data, keys, ledger, drill } = backups;
  return {
    data: data?.made_at ?? null,
    keys: keys?.made_at ?? null,
    ledger: ledger?.made_at ?? null,
    data_bytes: data?.bytes ?? null,
    keys_bytes: keys?.bytes ?? null,
    drill:
      drill === undefined ? null : { at: drill.made_at, ok: drill.ok ?? false, bytes: drill.bytes ?? null },
  };
}

/** Reads an installation, also while the service runs: in several short units beside those of bots. */
@Injectable()
export class InstallationReading {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly rotation: MasterKeyRotation,
    private readonly clock: Clock,
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
      outbox: await outboxState(unitOfWork, this.clock),
      erasures: await unitOfWork.snapshot(erasureBacklog),
      logs: await logState(unitOfWork),
      backups: config.database.engine === 'sqlite' ? lastBackups(config.database.path) : undefined,
      orphansKeptUntil: await unitOfWork.snapshot(orphansKeptUntil),
      keepsFilesOfLog: await keepsFilesOfLog(unitOfWork),
    };
  }

  /** Which master keys are used. It reads every key of every subject, page by page. */
  masterKeys(): Promise<KeyUse[]> {
    return this.rotation.uses();
  }
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
  /** Undefined for those of a database that cannot be read. */
  readonly masterKeys: readonly KeyUse[] | undefined;
  /** The last backups of a damaged database, whose `installation` cannot be read. */
  readonly backups?: BackupRecord | undefined;
  readonly nowMs: number;
  /** The version of Node.js. */
  readonly node: string;
  /** Undefined where a setting gives the master key. */
  readonly keyFile: { readonly path: string; readonly mode: number | undefined } | undefined;
  /** The file of LETHE_MASTER_KEY_FILE. */
  readonly secretFile?: Circumstances['keyFile'];
  /** The path of a record of backups that this user cannot read. */
  readonly unreadableRecord?: string | undefined;
  /** Files that restores have replaced and kept. */
  readonly replaced?: readonly string[];
  /** The file of the keys that a rotation has taken out of the key file. */
  readonly retiredKeys?: string | undefined;
  /** The mode of a file `.env` in the working folder. */
  readonly environmentMode: number | undefined;
  /** The disks of the SQLite files: that of the data, and that of the keys if it is another one. */
  readonly disks: readonly Disk[];
  /** The device that holds a path; undefined if there is nothing. */
  readonly deviceOf: (path: string) => number | undefined;
}

export interface Disk {
  readonly of: 'database' | 'keys';
  readonly freeBytes: number;
  readonly bytes: number;
}

/** The result of one look: a finding, if there is something to mend. */
export type Look = Finding | false | undefined;

/** What is around an installation: settings, files and disk. */
export function circumstancesOf(
  config: Config,
  read: Pick<Circumstances, 'installation' | 'masterKeys' | 'backups'>,
): Circumstances {
  const keyFile = config.masterKeys.length > 0 ? undefined : keyFilePath(config);
  const { masterKeyFile: secretFile } = config;
  const retired = retiredKeysPath(keyFilePath(config));
  return {
    config,
    ...read,
    nowMs: Date.now(),
    node: process.versions.node,
    keyFile: keyFile === undefined ? undefined : { path: keyFile, mode: modeOf(keyFile) },
    secretFile: secretFile === '' ? undefined : { path: secretFile, mode: modeOf(secretFile) },
    unreadableRecord:
      config.database.engine === 'sqlite' ? unreadableRecord(config.database.path) : undefined,
    replaced: config.database.engine === 'sqlite' ? replacedFiles(config.database.path) : [],
    retiredKeys: modeOf(retired) === undefined ? undefined : retired,
    environmentMode: modeOf('.env'),
    disks: disksOf(config),
    deviceOf: (path) => seen(() => statSync(path).dev),
  };
}

const modeOf = (path: string): number | undefined => seen(() => statSync(path).mode & 0o777);

/** The disks of the SQLite files, without those that cannot be seen; none for PostgreSQL. */
export function disksOf({ database }: Pick<Config, 'database'>): Disk[] {
  if (database.engine === 'postgres') return [];
  const data = resolve(database.path);
  const [ofData, ofKeys] = [data, keysPath(data)].map(dirname) as [string, string];
  const isOne = seen(() => statSync(ofData).dev === statSync(ofKeys).dev);
  return [diskAt('database', ofData), isOne !== true && diskAt('keys', ofKeys)].filter((disk) => !!disk);
}

function diskAt(of: Disk['of'], folder: string): Disk | undefined {
  return seen(() => {
    const { bavail, bsize, blocks } = statfsSync(folder);
    return { of, freeBytes: bavail * bsize, bytes: blocks * bsize };
  });
}

/** Undefined for what is not there, or in a folder that this user cannot open. */
function seen<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
