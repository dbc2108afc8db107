import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { keyFilePath, presentMasterKeys } from '@app/crypto';
import { requireFilled } from '@app/database';
import { type Config, createLogger, NestLogger, printable, StartError } from '@app/kernel';
import { LetheModule } from '@app/runtime';
import { ormOptions } from '../../../ormconfig';
import type { Surroundings } from './command';

/** The time limit of a statement in a command, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000;

@Module({})
class AdminModule {}

/** A reading command makes no key: a new key would decrypt nothing, since the service has another one. */
function requireKeys(config: Config): void {
  const { database } = config;
  if (database.engine === 'sqlite') requireFilled(database.path);
  if (presentMasterKeys(config) === undefined) throw noKeys(config);
}

export function noKeys(config: Config): StartError {
  return new StartError(
    `There is no key file ${keyFilePath(config)}, or an empty one: set LETHE_MASTER_KEY to the value that the service uses.`,
  );
}

/**
 * Runs `work` with the modules of Lethe, without the HTTP interface and without jobs. On SQLite the command holds the
 * file, so that no service can run, unless `work` only reads.
 * @throws StartError while a service runs.
 */
export async function inContext<T>(
  { config: given, further }: Surroundings,
  work: (nest: INestApplicationContext) => Promise<T>,
  access?: 'read' | 'keys',
): Promise<T> {
  if (access === 'read') requireKeys(given);
  const config: Config = {
    ...given,
    jobs: 'off',
    redisUrl: undefined,
    databaseStatementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const logger = createLogger('error', { write: (line) => process.stderr.write(printable(line)) });
  const lethe = LetheModule.forRoot({ config, logger, orm: ormOptions, further, access });
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
