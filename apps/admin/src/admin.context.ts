import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { keyFilePath, presentMasterKeys } from '@app/crypto';
import { requireFilled } from '@app/database';
import { type Config, createLogger, NestLogger, StartError } from '@app/kernel';
import { LetheModule } from '@app/runtime';
import { ormOptions } from '../../../ormconfig';
import type { Surroundings } from './command';

/** A command may take its time over a statement. */
const STATEMENT_TIMEOUT_MS = 600_000;

@Module({})
class AdminModule {}

/** A command that reads makes no key, which would open nothing: the service has one. */
function requireKeys(config: Config): void {
  const { database } = config;
  if (database.engine === 'sqlite') requireFilled(database.path);
  if (presentMasterKeys(config) === undefined) throw noKeys(config);
}

export function noKeys(config: Config): StartError {
  return new StartError(
    `There is no key file ${keyFilePath(config)}: set LETHE_MASTER_KEY as the service has it.`,
  );
}

/**
 * Lethe without its interface and without its jobs, for as long as `work` takes. On SQLite it holds the file: no service
 * runs meanwhile, unless `work` says that it only reads.
 * @throws StartError while one does.
 */
export async function inContext<T>(
  { config: given, further }: Surroundings,
  work: (nest: INestApplicationContext) => Promise<T>,
  access?: 'read',
): Promise<T> {
  if (access === 'read') requireKeys(given);
  const config: Config = {
    ...given,
    jobs: 'off',
    redisUrl: undefined,
    databaseStatementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const logger = createLogger('error', process.stderr);
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
