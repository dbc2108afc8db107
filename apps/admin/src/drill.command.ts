import { resolve } from 'node:path';
import { unopenedSecrets } from '@app/bots';
import { ledgerBegins, MasterKeyRotation, SubjectKeys, unopenedKeys } from '@app/crypto';
import { keysPath, PlaceFault, UnitOfWork } from '@app/database';
import { adminCommand, type Config, DAY_MS, many, StartError, SystemClock } from '@app/kernel';
import {
  type BackupRecord,
  DamagedBackup,
  type MasterKeys,
  newestBackups,
  restoreAside,
  sweepAside,
} from '@app/operations';
import { AuditVerifier, type LogFault } from '@app/sealing';
import { checkValues } from '@app/user-data';
import { inContext } from './admin.context';
import { masterKeysOf, record, sqlitePathOf } from './backup.commands';
import { type Command, type Given, type Surroundings, UsageError } from './command-line';

type Found = ReturnType<typeof newestBackups>;

/** What a restored copy holds, and what of it cannot be used. */
interface Verified {
  readonly texts: number;
  readonly values: number;
  readonly erased_values: number;
  readonly logs: number;
  readonly events: number;
  readonly faults: readonly string[];
}

/** Restores the newest backup aside, and verifies all of it. */
export const DRILL_COMMAND: Command = {
  name: 'backup:drill',
  summary:
    'Restores the newest backup into a folder of its own, verifies everything in it, and removes the folder',
  flags: {
    from: { type: 'string', value: 'DIR', description: 'A backup, or a folder of backups', required: true },
    'max-age-days': { type: 'string', value: 'N', description: 'Fails for a backup that is older' },
  },
  run: async (given, surroundings) => {
    const { config, tell } = surroundings;
    const path = sqlitePathOf(config);
    const maxAgeDays = daysOf(given);
    for (const folder of sweepAside(path, 'drill'))
      tell(`Removed what an interrupted drill has left: ${folder}.`);
    const nowMs = Date.now();
    const found = await newest(String(given['from']), nowMs, surroundings);
    const drilled = (ok: boolean): Promise<void> => record(surroundings, drillOf(found, nowMs, ok));
    const now = new Date(nowMs).toISOString();
    const copy = await restoreAside(path, found, now, () => drilled(false));
    try {
      const masterKeys = masterKeysOf(config);
      const refused = unopened(copy.path, masterKeys);
      if (refused !== undefined) {
        await drilled(false);
        throw refused;
      }
      const verified = await verify(copy.path, masterKeys.keys, madeAtOf(found), surroundings).catch(
        async (error: unknown) => {
          if (error instanceof StartError && !(error instanceof PlaceFault)) await drilled(false);
          throw error;
        },
      );
      await drilled(verified.faults.length === 0);
      await report(verified, found, { nowMs, maxAgeDays }, surroundings);
    } finally {
      copy.remove();
    }
  },
};

/** Notes a failed drill where a manifest cannot be used. */
async function newest(from: string, nowMs: number, surroundings: Surroundings): Promise<Found> {
  try {
    return newestBackups(from, nowMs);
  } catch (error) {
    const drill = { made_at: new Date(nowMs).toISOString(), directory: resolve(from), ok: false };
    if (error instanceof DamagedBackup) await record(surroundings, { drill });
    throw error;
  }
}

function drillOf({ data, keys }: Found, nowMs: number, ok: boolean): BackupRecord {
  const made = { made_at: new Date(nowMs).toISOString(), directory: resolve(data.directory) };
  return { drill: { ...made, bytes: data.bytes + keys.bytes, ok } };
}

/** Of its older part. */
function madeAtOf({ data, keys }: Found): string {
  return data.madeAt < keys.madeAt ? data.madeAt : keys.madeAt;
}

/** @throws UsageError for a value that is no positive whole number */
function daysOf(given: Given): number | undefined {
  const text = given['max-age-days'];
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(String(text))) throw new UsageError('--max-age-days must be a whole number.');
  return Number(text);
}

/** The refusal when the master keys do not open the keys of the installation, or webhook secrets: older than a rotation, or damaged. */
function unopened(copy: string, { keys, place }: MasterKeys): StartError | undefined {
  const { installation = unopenedSecrets(copy, keys)[0] } = unopenedKeys(keysPath(copy), keys);
  if (installation === undefined) return undefined;
  return new StartError(
    installation === ''
      ? 'The keys of the backup cannot be decrypted: they are damaged. Take another backup now.'
      : `The backup needs the master key ${installation}, which ${place} does not give. If it was rotated since, take another backup now: it needs the ` +
          'present key alone. To drill this one, add the key of the time of the backup there, behind the present one.',
  );
}

/** Brings the copy up to date and reads all of it. The copy gets the master keys of the installation. */
async function verify(
  path: string,
  masterKeys: readonly Buffer[],
  madeAt: string,
  surroundings: Surroundings,
): Promise<Verified> {
  const config: Config = {
    ...surroundings.config,
    database: { engine: 'sqlite', path },
    masterKeys,
    migrateOnStart: true,
    databaseBallastMiB: 0,
  };
  return inContext({ ...surroundings, config }, async (nest) => {
    const unitOfWork = nest.get(UnitOfWork);
    const faults: string[] = [];
    // The clock of the copy may begin with the time of the backup.
    const begins = ledgerBegins(new SystemClock(), config);
    if (madeAt < begins)
      faults.push(
        `The ledger of erasures begins at ${begins}: users who were erased after the backup and before would be back.`,
      );
    const texts = await nest.get(MasterKeyRotation, { strict: false }).check();
    if (texts.unreadable > 0)
      faults.push(`${many(texts.unreadable, 'key or secret does', 'keys or secrets do')} not decrypt.`);
    const values = await checkValues(unitOfWork, nest.get(SubjectKeys, { strict: false }));
    if (values.unreadable > 0)
      faults.push(`${many(values.unreadable, 'stored value does', 'stored values do')} not decrypt.`);
    let [logs, events] = [0, 0];
    const found: LogFault[] = [];
    for await (const log of nest.get(AuditVerifier).verifyAll((fault) => found.push(fault))) {
      logs += 1;
      events += log.events;
    }
    const unlisted = found.filter(({ fault }) => fault === 'ledger').length;
    if (unlisted > 0) faults.push(`The ledger lacks ${many(unlisted, 'erasure')} of the audit log.`);
    const changed = found.length - unlisted;
    if (changed > 0) faults.push(`The audit log is not what was sealed: ${many(changed, 'fault')}.`);
    return { texts: texts.texts, values: values.values, erased_values: values.erased, logs, events, faults };
  });
}

async function report(
  { faults, ...counts }: Verified,
  found: Found,
  { nowMs, maxAgeDays }: { nowMs: number; maxAgeDays: number | undefined },
  { tell, result }: Surroundings,
): Promise<void> {
  const madeAt = madeAtOf(found);
  const ageDays = Math.max(0, (nowMs - Date.parse(madeAt)) / DAY_MS);
  const isTooOld = maxAgeDays !== undefined && ageDays > maxAgeDays;
  await result({
    ok: faults.length === 0 && !isTooOld,
    made_at: madeAt,
    age_days: Number(ageDays.toFixed(2)),
    data: found.data.directory,
    keys: found.keys.directory,
    ...counts,
    faults,
  });
  tell(`The backup of ${madeAt} is ${ageOf(ageDays)} old: ${found.data.directory}.`);
  if (found.keys.directory !== found.data.directory) tell(`Its keys are of ${found.keys.directory}.`);
  tell(
    `${many(counts.values, 'value')}, ${many(counts.texts, 'key or secret', 'keys and secrets')}, and ${many(counts.events, 'event')} of ${many(counts.logs, 'audit log')} ` +
      'were verified, with the ledger of their erasures.',
  );
  for (const fault of faults) tell(fault);
  if (faults.length > 0)
    throw new StartError('This backup restores, but not all of it can be used. Take another one now.');
  if (isTooOld)
    throw new StartError(
      `The newest backup is older than ${many(Number(maxAgeDays), 'day')}. Take another one: ${adminCommand('backup --to DIR')}.`,
    );
  tell('The backup restores, and everything in it can be used.');
}

function ageOf(days: number): string {
  const hours = Math.round(days * 24);
  return hours < 48 ? many(hours, 'hour') : many(Math.floor(days), 'day');
}
