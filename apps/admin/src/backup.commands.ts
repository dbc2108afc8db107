import { keyFilePath, ledgerBegins, presentMasterKeys } from '@app/crypto';
import { isFilled } from '@app/database';
import {
  adminCommand,
  type Config,
  guidePath,
  many,
  masterKeySetting,
  StartError,
  SystemClock,
} from '@app/kernel';
import {
  BACKUP_PARTS,
  backUpSqlite,
  type BackupPart,
  type BackupRecord,
  madeOf,
  type MasterKeys,
  recordBackup,
  type Restored,
  restoreSqlite,
} from '@app/operations';
import { noKeys } from './admin.context';
import { type Command, type Flag, type Given, type Surroundings, UsageError } from './command-line';

const ONLY: Flag = {
  type: 'string',
  value: 'data|keys',
  description: 'Only this part; each part may have its own place and time',
};

const backup: Command = {
  name: 'backup',
  summary: 'Copies a SQLite database, data and keys, also while the service runs, and verifies the copy',
  flags: {
    to: { type: 'string', value: 'DIR', description: 'A new or empty directory', required: true },
    only: ONLY,
  },
  run: async (given, surroundings) => {
    const { config, tell, result } = surroundings;
    const directory = String(given['to']);
    const parts = partsOf(given);
    const manifest = await backUpSqlite(sqlitePathOf(config), directory, parts, new Date().toISOString());
    const { files } = manifest;
    await result({ directory, made_at: manifest.made_at, files });
    for (const part of parts) tell(`${part}: ${files[part]?.bytes} bytes, SHA-256 ${files[part]?.sha256}`);
    tell(
      `The backup is in ${directory} and verified. It does not hold the master key: keep the key elsewhere.`,
    );
    await record(surroundings, madeOf(directory, manifest));
  },
};

const restore: Command = {
  name: 'restore',
  summary: 'Restores a backup of a SQLite database; users who were erased after the backup stay erased',
  flags: {
    from: {
      type: 'string',
      value: 'DIR',
      description: 'The directory that backup has written',
      required: true,
    },
    only: ONLY,
    force: { type: 'boolean', description: 'Replaces the present files, and keeps them under other names' },
    'accept-loss': { type: 'boolean', description: 'Continues although stored values have no key' },
    'accept-old': {
      type: 'boolean',
      description:
        'Continues although the backup is older than the ledger of erasures: some erased users are back',
    },
  },
  run: async (given, surroundings) => {
    const restored = await restoreSqlite({
      path: sqlitePathOf(surroundings.config),
      from: String(given['from']),
      parts: partsOf(given),
      force: given['force'] === true,
      acceptLoss: given['accept-loss'] === true,
      ledgerBegins:
        given['accept-old'] === true ? undefined : ledgerBegins(new SystemClock(), surroundings.config),
      now: new Date().toISOString(),
      masterKeys: () => masterKeysOf(surroundings.config),
    });
    await surroundings.result({
      made_at: restored.madeAt ?? null,
      replaced: restored.replaced,
      later_erasures: restored.keys?.erasures ?? null,
      destroyed_keys: restored.keys?.destroyed ?? null,
      import_ledger: restored.needsLedger,
      postponed_deletions: restored.postponed?.count ?? 0,
    });
    report(restored, surroundings);
  },
};

export const BACKUP_COMMANDS: readonly Command[] = [backup, restore];

/** @throws StartError where no setting and no key file gives a master key: a backup could not be opened */
export function masterKeysOf(config: Config): MasterKeys {
  const keys = presentMasterKeys(config);
  if (keys === undefined) throw noKeys(config);
  return {
    keys,
    place: config.masterKeys.length > 0 ? masterKeySetting(config) : `the key file ${keyFilePath(config)}`,
  };
}

function report(restored: Restored, surroundings: Surroundings): void {
  const { config, tell } = surroundings;
  const { madeAt, parts, replaced, keys, presentKeysUnreadable, needsLedger } = restored;
  if (madeAt === undefined)
    tell('A restore that was interrupted is finished. To restore another backup run it again.');
  else tell(`The backup of ${madeAt} is in place.`);
  if (keys !== undefined)
    tell(
      `${many(keys.erasures, 'later erasure was', 'later erasures were')} kept, and ${many(keys.destroyed, 'destroyed key stays', 'destroyed keys stay')} destroyed.`,
    );
  if (presentKeysUnreadable) tell('The present ledger could not be read.');
  for (const path of replaced)
    tell(
      `Replaced: ${path}. Delete it when the service runs: it still holds users who are erased from now on.`,
    );
  if (parts.includes('data')) reportUndone(restored, surroundings);
  const imports = adminCommand('ledger:import --in FILE');
  // The import needs the data.
  const next = isFilled(sqlitePathOf(config)) ? 'Import' : 'Restore the data, then import';
  const dataStays = !parts.includes('data') && isFilled(sqlitePathOf(config));
  const [places, withoutExport] = dataStays
    ? [
        'in an export of the ledger, and in the data in place unless it came from a backup too',
        'Without an export start it before you restore other data: it enters in the ledger what the data in place records, and others are back.',
      ]
    : ['only in an export of the ledger', 'Without an export they are back.'];
  tell(
    needsLedger
      ? `Do not start yet: users who were erased after the backup are ${places}. ${next} the newest one: ${imports}. ` +
          `Then start the service: before it answers, it erases these users again. ${withoutExport}`
      : 'Start the service now: before it answers, it erases again the users of the ledger that are in the data. ' +
          `If the keys in place came from a backup too, first import the newest export of the ledger: ${imports}.`,
  );
}

/** Names what the data of a backup brings back, beside the users who are erased again. */
function reportUndone({ postponed }: Restored, { tell }: Surroundings): void {
  tell(
    'Apart from erasures everything is as it was at the backup: what was undone since has to be undone again, as a revoked consent, an objection, a deleted value, a deleted bot, a voided API key, ' +
      `an ended link to a privacy page, a rotated webhook secret, a suspension or a cancelled deletion of a guild. ${guidePath('operate.md')} describes it.`,
  );
  if (postponed !== undefined)
    tell(
      `${many(postponed.count, 'scheduled deletion of a guild waits', 'scheduled deletions of guilds wait')} until ${postponed.until}: have the bots cancel again until then what was cancelled after the backup.`,
    );
}

/** Notes a finished copy or drill for `status` and `doctor`. One that cannot be noted is good all the same. */
export async function record({ config, tell }: Surroundings, made: BackupRecord): Promise<void> {
  await recordBackup(sqlitePathOf(config), made).catch((error: NodeJS.ErrnoException) =>
    tell(
      `The time of this ${'drill' in made ? 'drill' : 'copy'} could not be recorded beside the database (${error.code}).`,
    ),
  );
}

export function sqlitePathOf({ database }: Config): string {
  if (database.engine === 'sqlite') return database.path;
  throw new StartError(
    `backup and restore are for SQLite. PostgreSQL has its own tools; ${guidePath('operate.md')} describes them.`,
  );
}

function partsOf({ only }: Given): readonly BackupPart[] {
  if (only === undefined) return BACKUP_PARTS;
  const found = BACKUP_PARTS.find((part) => part === only);
  if (found === undefined) throw new UsageError('--only must be data or keys.');
  return [found];
}
