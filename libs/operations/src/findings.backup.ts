import { adminCommand, DAY_MS } from '@app/kernel';
import { dirname, resolve, sep } from 'node:path';
import type { Circumstances, Disk, Finding, Look } from './installation';
import { type BackupRecord, isAhead } from './sqlite.backup-record';

const BACKUP_AGE_MAX_DAYS = 7;
const DRILL_AGE_MAX_DAYS = 90;
const MIB = 1_048_576;
const ROOM_MIN_BYTES = 256 * MIB;

/** What can lose data or keys, or make a backup useless. */
export function backupFindings(circumstances: Circumstances): readonly Look[] {
  const { unreadableRecord } = circumstances;
  return [
    // What an unreadable record says is not known: that there is no backup would be wrong.
    ...(unreadableRecord === undefined
      ? [missingBackup(circumstances), missingDrill(circumstances), unexportedLedger(circumstances)]
      : [unreadable(unreadableRecord)]),
    keyBesideBackup(circumstances),
    sameDisk(circumstances),
    ...readableSecrets(circumstances),
    ...leftovers(circumstances),
    roomOf(circumstances),
    logOfPostgres(circumstances),
  ];
}

function unreadable(path: string): Look {
  return {
    id: 'backup_record_unreadable',
    level: 'fault',
    says: `The record of the backups, ${path}, cannot be read: when the last backup was is not known.`,
    mend: `Give it to the user of the service (chown USER ${path}), and run commands as this user.`,
  };
}

/** A time later than now says nothing: it would hide that nothing follows until then. */
function isLate(made: BackupRecord['ledger'], nowMs: number, maxDays = BACKUP_AGE_MAX_DAYS): boolean {
  return (
    made === undefined || nowMs - Date.parse(made.made_at) > maxDays * DAY_MS || isAhead(made.made_at, nowMs)
  );
}

/** The record of the backups; undefined on PostgreSQL. Beside a damaged database it comes from its own file. */
const recordOf = ({ installation, backups }: Circumstances): BackupRecord | undefined =>
  installation?.backups ?? backups;

/** {@link recordOf} an installation that needs backups; undefined where it has no bot. */
const backupsOf = (circumstances: Circumstances): BackupRecord | undefined =>
  circumstances.installation?.bots === 0 ? undefined : recordOf(circumstances);

function missingBackup(circumstances: Circumstances): Look {
  const { nowMs } = circumstances;
  const backups = backupsOf(circumstances);
  if (backups === undefined) return undefined;
  const late = (['data', 'keys'] as const).filter((part) => isLate(backups[part], nowMs));
  return (
    late.length > 0 && {
      id: 'backup_missing',
      level: 'fault',
      says: `There is no backup of the ${late.join(' and the ')} from the last ${BACKUP_AGE_MAX_DAYS} days.`,
      mend: `Run ${adminCommand('backup --to DIR/$(date +%F)')} every day, and ${adminCommand('backup:drill --from DIR')} now and then.`,
    }
  );
}

function missingDrill(circumstances: Circumstances): Look {
  const { nowMs } = circumstances;
  const { data, drill } = backupsOf(circumstances) ?? {};
  // Without a backup there is nothing to restore.
  if (data === undefined) return undefined;
  const mend = `Run ${adminCommand('backup:drill --from DIR')} with the folder of your backups, every month.`;
  if (drill?.ok === false)
    return {
      id: 'drill_failed',
      level: 'fault',
      says: `The last drill, of ${drill.made_at}, could not use the backup.`,
      mend: `Take another backup now, and run ${adminCommand('backup:drill --from DIR')} again: it says what is wrong.`,
    };
  if (!isLate(drill, nowMs, DRILL_AGE_MAX_DAYS)) return undefined;
  const says = `No backup was restored by a drill in the last ${DRILL_AGE_MAX_DAYS} days.`;
  return { id: 'drill_missing', level: 'warning', says, mend };
}

function keyBesideBackup(circumstances: Circumstances): Look {
  const file = circumstances.keyFile ?? circumstances.secretFile;
  if (file === undefined) return undefined;
  const home = dirname(resolve(file.path));
  // An export of the ledger is no backup: it holds no data that the key opens.
  const { data, keys, drill } = recordOf(circumstances) ?? {};
  const beside = [data, keys, drill]
    .map((made) => made?.directory)
    .find((folder) => folder !== undefined && (folder === home || folder.startsWith(home + sep)));
  return (
    beside !== undefined && {
      id: 'key_beside_backup',
      level: 'fault',
      says: `The backup in ${beside} is in the folder of the key file: who has this folder reads everything.`,
      mend: 'Write backups to another machine, and keep the key file out of them.',
    }
  );
}

function sameDisk(circumstances: Circumstances): Look {
  const { config, deviceOf } = circumstances;
  const data = recordOf(circumstances)?.data?.directory;
  if (config.database.engine !== 'sqlite' || data === undefined) return undefined;
  const device = deviceOf(dirname(resolve(config.database.path)));
  return (
    device !== undefined &&
    device === deviceOf(data) && {
      id: 'backup_on_same_disk',
      level: 'warning',
      says: `The backup in ${data} is on the disk of the database: both are lost together.`,
      mend: 'Copy each backup to another machine.',
    }
  );
}

function readableSecrets({ config, keyFile, secretFile, environmentMode }: Circumstances): readonly Look[] {
  const isOpen = (mode: number | undefined, to = 0o077): boolean => mode !== undefined && (mode & to) !== 0;
  return [
    keyFile?.mode !== undefined && {
      id: 'key_file',
      level: 'warning',
      says: `The master key is in ${keyFile.path}${config.database.engine === 'sqlite' ? ', on the disk of the database' : ''}.`,
      mend: 'Keep a copy in another place, apart from the backups; or set LETHE_MASTER_KEY and delete the file.',
    },
    isOpen(keyFile?.mode) && {
      id: 'key_file_readable',
      level: 'fault',
      says: `Other users of this machine can read the key file ${keyFile?.path}.`,
      mend: `chmod 600 ${keyFile?.path}; if others use this machine, run ${adminCommand('keys:rotate')} afterwards.`,
    },
    // A secret of Kubernetes belongs to root, and the process reads it by its group. A container may have no others.
    isOpen(secretFile?.mode, 0o007) && {
      id: 'key_file_readable',
      level: 'warning',
      says: `The file of LETHE_MASTER_KEY_FILE, ${secretFile?.path}, can be read by every user.`,
      mend: `chmod o= ${secretFile?.path}, or give the secret the mode 0440; if others use this machine, change the master key afterwards.`,
    },
    isOpen(environmentMode) && {
      id: 'env_readable',
      level: 'fault',
      says: 'Other users of this machine can read .env, which holds keys.',
      mend: 'chmod 600 .env; if others use this machine, change the keys in it.',
    },
  ];
}

function unexportedLedger(circumstances: Circumstances): Look {
  const backups = backupsOf(circumstances);
  if (backups === undefined) return undefined;
  return (
    isLate(backups.ledger, circumstances.nowMs) && {
      id: 'ledger_not_exported',
      level: 'warning',
      says: `The ledger of erasures was not exported in the last ${BACKUP_AGE_MAX_DAYS} days: with keys lost, a restored backup cannot erase anew.`,
      mend: `Run ${adminCommand('ledger:export --out DIR/ledger-$(date +%F).ndjson')} every day, and keep the files apart from the backups.`,
    }
  );
}

function leftovers({ replaced = [], retiredKeys, installation }: Circumstances): readonly Look[] {
  const orphansUntil = installation?.orphansKeptUntil;
  return [
    orphansUntil !== undefined && {
      id: 'orphan_keys',
      level: 'warning',
      says: `More than 1,000 keys belong to no user, as after a restore of older data. They are kept until ${orphansUntil}, and no erasure reaches them.`,
      mend: 'Restore the newer data by then if the older was a mistake; else Lethe destroys the keys.',
    },
    replaced.length > 0 && {
      id: 'replaced_left',
      level: 'warning',
      says: `A restore has kept what it replaced: ${replaced.join(', ')}. These files still hold users who were erased since.`,
      mend: 'Delete them when the service runs with the restored data.',
    },
    retiredKeys !== undefined && {
      id: 'retired_keys',
      level: 'warning',
      says: `${retiredKeys} holds the master keys from before a rotation, which older backups need.`,
      mend: 'Keep a copy in another place, apart from the backups, and delete the file; delete the copy with the last backup from before the rotation.',
    },
  ];
}

function roomOf({ disks, installation }: Circumstances): Look {
  const looks = disks.map((disk) => room(disk, disk.of === 'database' ? (installation?.bytes ?? 0) : 0));
  return looks.find((look) => look?.level === 'fault') ?? looks.find((look) => look !== undefined);
}

function room(disk: Disk, usedBytes: number): Finding | undefined {
  const mend = 'Free some room or take a larger disk: on a full one, requests that store more are refused.';
  const free = `${Math.floor(disk.freeBytes / MIB)} MiB are free on the disk of the ${disk.of}`;
  if (disk.freeBytes < ROOM_MIN_BYTES)
    return { id: 'disk_full', level: 'fault', says: `Only ${free}.`, mend };
  const isSmall = disk.freeBytes < disk.bytes / 20 || disk.freeBytes < usedBytes / 2;
  return isSmall ? { id: 'disk_low', level: 'warning', says: `${free}, which is little.`, mend } : undefined;
}

function logOfPostgres({ installation }: Circumstances): Look {
  return (
    installation?.keepsFilesOfLog && {
      id: 'wal_recycle',
      level: 'warning',
      says: 'wal_recycle of PostgreSQL is on: files of its log (pg_wal), which hold destroyed keys, are kept under new names.',
      mend: 'Run ALTER SYSTEM SET wal_recycle = off, and then SELECT pg_reload_conf(), as a superuser of PostgreSQL.',
    }
  );
}
