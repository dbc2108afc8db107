import { keyFilePath } from '@app/crypto';
import { databaseEngine } from '@app/database';
import { type Config, type MasterKeyPlace, masterKeyPlace, masterKeySetting, version } from '@app/kernel';
import { backupTimes, type Installation, InstallationReading } from '@app/operations';
import { RetentionPreview } from '@app/reports';
import type { INestApplicationContext } from '@nestjs/common';
import { reading } from './admin.context';
import type { Command } from './command-line';

const KIB = 1_024;

/** Shows the state of an installation at a glance. */
export const STATUS_COMMAND: Command = {
  name: 'status',
  summary: 'Shows version, database, bots, what is due, the place of the master key, and the last backup',
  flags: {},
  run: reading(async (nest, { config, result }) => {
    const installation = await nest.get(InstallationReading, { strict: false }).read();
    const status = statusOf(installation, await dueValues(nest), config);
    await result(status, wordsOf(status, masterKeySetting(config)));
  }),
};

/** The number of values that retention would erase now. Those of a revoked consent can be among them, and count once. */
async function dueValues(nest: INestApplicationContext): Promise<number> {
  let sum = 0;
  for await (const { due } of nest.get(RetentionPreview, { strict: false }).ofAllBots())
    for (const { reason, values } of due) if (reason === 'retention') sum += values;
  return sum;
}

function statusOf(found: Installation, pastRetention: number, config: Config) {
  const { logs, outbox, backups } = found;
  return {
    version: version(),
    node: process.version,
    database: {
      engine: config.database.engine,
      place: databaseEngine(config).place,
      bytes: found.bytes,
    },
    bots: { total: found.bots, suspended: found.suspendedBots },
    subjects: found.subjects,
    oldest_due: {
      webhook: outbox.oldestDue ?? null,
      erasure: found.erasures.oldest ?? null,
      unsealed_event: logs.oldestUnsealed ?? null,
    },
    values_past_retention: pastRetention,
    master_key: keyPlaceOf(config),
    last_backup: backupTimes(backups),
  };
}

function keyPlaceOf(config: Config): { readonly from: MasterKeyPlace; readonly file?: string } {
  const from = masterKeyPlace(config);
  return from === 'file' ? { from, file: keyFilePath(config) } : { from };
}

type Status = ReturnType<typeof statusOf>;

function wordsOf(status: Status, keySetting: string): string {
  const { database, bots, oldest_due: due, master_key: key, last_backup: last } = status;
  const suspended = bots.suspended > 0 ? `, ${bots.suspended} of them suspended` : '';
  const lines: readonly (readonly [string, string])[] = [
    ['Lethe', `${status.version} on Node.js ${status.node}`],
    ['Database', `${database.place}, ${sizeOf(database.bytes)}`],
    ['Bots', `${bots.total}${suspended}`],
    ['Users with a key', String(status.subjects)],
    ['Oldest webhook call', dueSince(due.webhook)],
    ['Unfinished erasure', since(due.erasure)],
    ['Unsealed audit event', since(due.unsealed_event)],
    ['Values past retention', String(status.values_past_retention)],
    ['Master key', key.from === 'file' ? `key file ${key.file}` : keySetting],
    ...(last === null
      ? [['Last backup', 'not known to Lethe: look at the backups of your PostgreSQL server'] as const]
      : [
          ['Last backup of data', madeAt(last.data, last.data_bytes)] as const,
          ['Last backup of keys', madeAt(last.keys, last.keys_bytes)] as const,
          ['Last export of ledger', madeAt(last.ledger)] as const,
          ['Last drill', drillOf(last.drill)] as const,
        ]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

function madeAt(at: string | null, bytes: number | null = null): string {
  if (at === null) return 'none on record';
  return bytes === null ? at : `${at}, ${sizeOf(bytes)}`;
}

function drillOf(drill: NonNullable<Status['last_backup']>['drill']): string {
  if (drill === null) return 'none on record';
  return `${madeAt(drill.at, drill.bytes)}, ${drill.ok ? 'everything could be used' : 'FAILED: run backup:drill again'}`;
}

function since(at: string | null): string {
  return at === null ? 'none' : `since ${at}`;
}

function dueSince(at: string | null): string {
  return at === null ? 'none' : `due at ${at}`;
}

function sizeOf(bytes: number): string {
  if (bytes < KIB * KIB) return `${Math.ceil(bytes / KIB)} KiB`;
  return `${(bytes / KIB / KIB).toFixed(1)} MiB`;
}
