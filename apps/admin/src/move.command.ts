import { presentMasterKeys } from '@app/crypto';
import { databaseEngine } from '@app/database';
import { type Config, postgresPlaces, readConfig, StartError } from '@app/kernel';
import { moveEngine, type MovePlace } from '@app/operations';
import { AuditVerifier } from '@app/sealing';
import { ormOptions } from '../../../ormconfig';
import { inContext } from './admin.context';
import type { Command, Surroundings } from './command';
import { UsageError } from './command-line';

const PLACE = 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** Moves all rows to a database of the other engine, and writes the next steps. */
export const MOVE_COMMAND: Command = {
  name: 'db:move',
  summary:
    'Moves everything from SQLite to PostgreSQL or back, and compares both; run it again after an interruption',
  flags: {
    from: { type: 'string', value: 'URL', description: `The source: ${PLACE}`, required: true },
    to: { type: 'string', value: 'URL', description: 'The empty target; without it that of DATABASE_URL' },
  },
  run: async (given, surroundings) => {
    const { config, tell, result, progress } = surroundings;
    const source = placeOf(config, '--from', String(given['from']));
    const target = given['to'] === undefined ? placeOf(config) : placeOf(config, '--to', String(given['to']));
    if (source.database.engine === target.database.engine)
      throw new UsageError(
        'Source and target have the same engine. Name a target of the other one with --to or DATABASE_URL.',
      );
    tell(`from ${source.engine.place}\n  to ${target.engine.place}`);
    const rows = await moveEngine(source, target, ({ doing, table, rows: done, total, whole }) =>
      progress.step({ what: `${doing} ${table}`, done, total, unit: 'rows', whole }),
    );
    report(rows, { config, tell }, source.database, target.database);
    const keys = presentMasterKeys({ ...config, database: source.database });
    const sealed = keys && (await verifySealed(target.database, keys, surroundings));
    await result({ from: source.engine.place, to: target.engine.place, rows, sealed: sealed ?? null });
    reportSealed(sealed, tell);
  },
};

/**
 * The database of a flag, or of `config`. @throws UsageError that does not quote the flag, since it holds a password
 */
function placeOf(config: Config, flag?: string, url?: string): MovePlace {
  const { database, databaseDirect } = config;
  const given =
    databaseDirect === undefined ? database : { engine: 'postgres' as const, url: databaseDirect };
  // One end of a move is one server, which is reached without a pooler.
  const alone = { databaseDirect: undefined, databaseRead: undefined };
  const own = {
    ...config,
    ...alone,
    database: oneServer(url === undefined ? given : databaseOf(flag ?? '', url)),
  };
  return { database: own.database, engine: databaseEngine(own), options: ormOptions(own) };
}

function oneServer(database: Database): Database {
  if (database.engine === 'postgres' && postgresPlaces(database.url).places.length > 1)
    throw new UsageError('A move reads or fills one server. Name the primary alone.');
  return database;
}

function databaseOf(flag: string, url: string): Config['database'] {
  try {
    return readConfig({ DATABASE_URL: url }).database;
  } catch {
    throw new UsageError(`${flag} must be ${PLACE}.`);
  }
}

type Database = Config['database'];

/** What the verification of all audit logs has found. */
interface Sealed {
  readonly logs: number;
  readonly events: number;
  readonly faults: number;
}

/** Verifies in the target every audit log that was sealed in the source, with the master keys of the source. */
function verifySealed(
  database: Database,
  masterKeys: Config['masterKeys'],
  surroundings: Surroundings,
): Promise<Sealed> {
  const config: Config = { ...surroundings.config, database, masterKeys, databaseBallastMiB: 0 };
  return inContext(
    { ...surroundings, config },
    async (nest) => {
      let [logs, events, faults] = [0, 0, 0];
      for await (const log of nest.get(AuditVerifier).verifyAll(() => void (faults += 1))) {
        logs += 1;
        events += log.events;
        surroundings.progress.show(`verifying sealed audit logs: ${events} events of ${logs} logs`);
      }
      surroundings.progress.end();
      return { logs, events, faults };
    },
    'read',
  );
}

/** @throws StartError for faults. The rows are equal, so the source has the same ones. */
function reportSealed(sealed: Sealed | undefined, tell: Surroundings['tell']): void {
  if (sealed === undefined)
    return tell(
      'The sealed audit logs were not verified, since the master key is not here. Run lethe-server admin audit:verify with it.',
    );
  if (sealed.faults === 0)
    return tell(`${sealed.events} events of ${sealed.logs} audit logs are what was sealed in the source.`);
  throw new StartError(
    `${sealed.faults} faults: the audit log of the target is not what was sealed. Its rows equal those of the source, which has the same faults: ` +
      'lethe-server admin audit:verify names them.',
  );
}

function report(
  rows: number,
  { config, tell }: Pick<Surroundings, 'config' | 'tell'>,
  from: Database,
  to: Database,
): void {
  tell(`${rows} rows are in the target and equal those of the source.`);
  tell('Now:');
  tell('  - Set DATABASE_URL to the target, and start the service.');
  if (config.masterKeys.length > 0)
    tell('  - The keys stay encrypted with LETHE_MASTER_KEY: give the service the same one.');
  else
    tell(
      `  - The keys stay encrypted with the key file ${keyFileOf(from)}, which was not moved. Set LETHE_MASTER_KEY to its\n` +
        `    content for every process, or copy it to ${keyFileOf(to)} where the service runs. Without it no service starts.`,
    );
  tell(
    '  - The source is unchanged. It still holds what is erased from now on: delete it when the service runs.',
  );
}

function keyFileOf(database: Database): string {
  return database.engine === 'sqlite' ? `${database.path}.key` : './data/lethe.db.key';
}
