import { presentMasterKeys } from '@app/crypto';
import { databaseEngine } from '@app/database';
import { adminCommand, type Config, many, masterKeySetting, readConfig, StartError } from '@app/kernel';
import { MOVE_PARTS, moveEngine, type MovePlace } from '@app/operations';
import { AuditVerifier, type LogFault } from '@app/sealing';
import { ormOptions } from '../../../ormconfig';
import { inContext, noKeys } from './admin.context';
import { type Command, type Surroundings, UsageError } from './command-line';

const SOURCE = 'sqlite:PATH';
const TARGET = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';
/** Further faults are counted. */
const NAMED_FAULTS = 5;

type MoveWatch = Parameters<typeof moveEngine>[2];
type SqliteFile = Extract<Config['database'], { readonly engine: 'sqlite' }>;

/** Moves all rows of a SQLite file to PostgreSQL, and writes the next steps. */
export const MOVE_COMMAND: Command = {
  name: 'db:move',
  summary:
    'Moves everything from SQLite to PostgreSQL, compares both, and verifies the sealed logs; run it again after an interruption',
  flags: {
    from: { type: 'string', value: 'URL', description: `The source: ${SOURCE}`, required: true },
    to: {
      type: 'string',
      value: 'URL',
      description: `The empty target: ${TARGET}; without it that of DATABASE_DIRECT_URL or DATABASE_URL`,
    },
    'accept-faults': {
      type: 'boolean',
      description: 'Ends the move although the sealed logs have faults, which the source has, too',
    },
  },
  run: async (given, surroundings) => {
    const { config, tell, result } = surroundings;
    const from = databaseOf(String(given['from']));
    if (from?.engine !== 'sqlite') throw new UsageError(`--from must be ${SOURCE}.`);
    const { databaseDirectUrl: direct } = config;
    const own = direct === undefined ? config.database : databaseOf(direct);
    const to = given['to'] === undefined ? own : databaseOf(String(given['to']));
    if (to?.engine !== 'postgres')
      throw new UsageError(`The target must be PostgreSQL: --to, or else DATABASE_URL, must be ${TARGET}.`);
    const of = { ...config, database: from };
    // The move holds one session for all its work.
    const into = { ...config, database: to, databaseDirectUrl: undefined };
    const [source, target] = [placeOf(of, from.path), placeOf(into, to.url)];
    tell(`from ${source.engine.place}\n  to ${target.engine.place}`);
    const watch = watchOf(of, into, given['accept-faults'] === true, surroundings);
    const rows = await moveEngine(source, target, watch);
    await result({ from: source.engine.place, to: target.engine.place, rows });
    tell(
      `${many(rows, 'row is', 'rows are')} in the target and ${rows === 1 ? 'equals that' : 'equal those'} of the source.`,
    );
    tellNext(config, from, surroundings);
  },
};

function watchOf(of: Config, into: Config, acceptFaults: boolean, surroundings: Surroundings): MoveWatch {
  const { progress, tell } = surroundings;
  const withKeys = (config: Config): Surroundings => {
    const masterKeys = presentMasterKeys(of);
    if (masterKeys === undefined) throw noKeys(of);
    return { ...surroundings, config: { ...config, masterKeys } };
  };
  return {
    onContinued: (rows) => tell(`An interrupted move continues: it has moved ${many(rows, 'row')}.`),
    onProgress: ({ part, table, rows, total, all }) =>
      progress.step({
        ...(part === 'log'
          ? { what: 'verifying the sealed logs', unit: 'events' }
          : { what: `${part} ${table}`, unit: 'rows' }),
        ...{ done: rows, total },
        part: { name: `part ${MOVE_PARTS.indexOf(part) + 1} of ${MOVE_PARTS.length}`, ...all },
      }),
    // Its start opens the keys of the installation.
    requireKeys: () => inContext(withKeys(of), async () => undefined, 'read'),
    verifyLogs: async (onEvents) => {
      const faults: LogFault[] = [];
      const sealed = await inContext(
        withKeys(into),
        async (nest) => {
          const found = { logs: 0, events: 0, unsealed: 0 };
          for await (const log of nest
            .get(AuditVerifier)
            .verifyAll((fault) => faults.push(fault), onEvents)) {
            found.logs += 1;
            found.events += log.events;
            found.unsealed += log.unsealed;
          }
          return found;
        },
        'moved',
      );
      tell(
        `${many(sealed.logs, 'sealed log')} with ${many(sealed.events, 'event')} ${sealed.logs === 1 ? 'was' : 'were'} verified in the target; ${many(sealed.unsealed, 'event is', 'events are')} not sealed yet.`,
      );
      requireSound(faults, acceptFaults, surroundings);
    },
  };
}

/** @throws StartError for faults that are not accepted */
function requireSound(faults: readonly LogFault[], accept: boolean, { tell }: Surroundings): void {
  for (const { bot_id: bot, batch, seq, message } of faults.slice(0, NAMED_FAULTS)) {
    const place = [
      bot,
      ...(batch === undefined ? [] : [`batch ${batch}`]),
      ...(seq === undefined ? [] : [`event ${seq}`]),
    ];
    tell(`${place.join(', ')}: ${message}.`);
  }
  if (faults.length === 0) return;
  const count = `The sealed logs have ${many(faults.length, 'fault')}. The rows are those of the source, so it has them, too.`;
  if (accept) return tell(count);
  throw new StartError(
    `${count} ${adminCommand('audit:verify')} lists them, with DATABASE_URL set to the source. Everything is moved and compared: to end the move all the same, run it again with --accept-faults.`,
  );
}

function tellNext(config: Config, { path }: SqliteFile, { tell }: Surroundings): void {
  tell('Now:');
  tell('  - Set DATABASE_URL to the target, and start the service.');
  tell(
    config.masterKeys.length > 0
      ? `  - The keys stay encrypted with the master key of ${masterKeySetting(config)}: give the service the same one.`
      : `  - The keys stay encrypted with the key file ${path}.key, which was not moved. Set LETHE_MASTER_KEY to its\n` +
          '    content for every process, or copy it to ./data/lethe.db.key where the service runs. Without it no service starts.',
  );
  tell(
    '  - The source is unchanged. It still holds what is erased from now on: delete it when the service runs.',
  );
}

function placeOf(config: Config, at: string): MovePlace {
  return { at, engine: databaseEngine(config), options: ormOptions(config) };
}

/** Undefined for what is no database. No error quotes the flag, since it holds a password. */
function databaseOf(url: string): Config['database'] | undefined {
  try {
    return readConfig({ DATABASE_URL: url }).database;
  } catch {
    return undefined;
  }
}
