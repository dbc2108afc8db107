import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { keyFilePath, presentMasterKeys } from '@app/crypto';
import {
  databaseEngine,
  FileInUse,
  opened,
  requireFilled,
  requireWhole,
  WITHOUT_DATABASE,
} from '@app/database';
import {
  ApiError,
  type Config,
  createLogger,
  isForPeople,
  linesForPeople,
  NestLogger,
  printable,
  StartError,
} from '@app/kernel';
import { askService, type OperatorActs, operatorActs } from '@app/operations';
import { LetheModule } from '@app/runtime';
import { MigrationExecutor } from 'typeorm';
import { ormOptions } from '../../../ormconfig';
import type { Command, Surroundings } from './command-line';

/** The time limit of a statement in a command, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000;

@Module({})
class AdminModule {}

export function noKeys(config: Config): StartError {
  return new StartError(
    `There is no key file ${keyFilePath(config)}, or an empty one: set LETHE_MASTER_KEY to the value that the service uses, or LETHE_MASTER_KEY_FILE or LETHE_MASTER_KEY_COMMAND as the service has it.`,
  );
}

/** The log of a command, on standard error. */
export function logOf({ logFormat }: Config): ReturnType<typeof createLogger> {
  const errors = { write: (line: string) => void process.stderr.write(printable(line)) };
  return createLogger(
    'error',
    isForPeople(logFormat, process.stderr) ? linesForPeople(process.stderr, process.stderr) : errors,
  );
}

/**
 * Runs `work` with the modules of Lethe, without the HTTP interface and without jobs. On SQLite the command holds the
 * file, so that no service can run, unless `work` only reads.
 * @throws StartError while a service runs, and where there is no database.
 */
export async function inContext<T>(
  { config: given, further }: Surroundings,
  work: (nest: INestApplicationContext) => Promise<T>,
  access?: 'read' | 'moved' | 'keys',
): Promise<T> {
  if (access === 'read' || access === undefined) await requireMade(given, access);
  if (access === 'read') {
    // A reading command makes no key: a new key would decrypt nothing, since the service has another one.
    if (presentMasterKeys(given) === undefined) throw noKeys(given);
  }
  const config: Config = {
    ...given,
    jobs: 'off',
    redisUrl: undefined,
    databaseStatementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const logger = logOf(given);
  const lethe = LetheModule.forRoot({ config, logger, orm: ormOptions, further, access, isCommand: true });
  const nest = await NestFactory.createApplicationContext(
    { module: AdminModule, imports: [lethe] },
    { logger: new NestLogger(logger), abortOnError: false },
  );
  try {
    return await work(nest);
  } finally {
    await nest.close();
  }
}

/**
 * A command makes no installation: in a wrong folder it would have nothing to change, and before a restore it would be in its way.
 * What only reads makes nothing on PostgreSQL either, and asks for the migrations.
 * @throws StartError where there is none
 */
async function requireMade(config: Config, access: 'read' | undefined): Promise<void> {
  if (config.database.engine === 'sqlite') {
    requireWhole(config.database.path);
    return requireFilled(config.database.path);
  }
  if (access === 'read') return;
  const engine = databaseEngine(config);
  const made = await opened(engine.schemaSource({ ...ormOptions(config), entities: [] }), (source) =>
    new MigrationExecutor(source).getExecutedMigrations(),
  );
  if (made.length === 0)
    throw new StartError(`There is no database of Lethe at ${engine.place}. ${WITHOUT_DATABASE}`);
}

/** The `run` of a command that reads, also while the service runs. */
export function reading(
  work: (nest: INestApplicationContext, surroundings: Surroundings) => Promise<void>,
): Command['run'] {
  return (_, surroundings) => inContext(surroundings, (nest) => work(nest, surroundings), 'read');
}

/** {@link reading} of rows, each written as a line of JSON. */
export function listing(rows: (nest: INestApplicationContext) => AsyncIterable<object>): Command['run'] {
  return reading(async (nest, { data }) => {
    for await (const row of rows(nest)) await data(`${JSON.stringify(row)}\n`);
  });
}

type Done<Name extends keyof OperatorActs> = Awaited<ReturnType<OperatorActs[Name]>>;

/**
 * Does an act of the operator: in this process, or in the service that holds the SQLite file.
 * @throws StartError for a refusal, as for an unknown bot
 */
export async function act<Name extends keyof OperatorActs>(
  surroundings: Surroundings,
  name: Name,
  ...given: Parameters<OperatorActs[Name]>
): Promise<Done<Name>> {
  try {
    return await inContext(surroundings, async (nest) => {
      const { progress } = surroundings;
      const acts = operatorActs(nest, (table, count) => progress.show(`${table}: ${count} rewrapped`));
      const does = acts[name] as (...given: string[]) => Promise<Done<Name>>;
      return does(...given);
    });
  } catch (error) {
    if (error instanceof ApiError) throw new StartError(error.message);
    const { database } = surroundings.config;
    if (!(error instanceof FileInUse) || database.engine !== 'sqlite') throw error;
    const answer = await askService(database.path, name, given);
    if (answer === undefined) throw error;
    return answer.done as Done<Name>;
  }
}
