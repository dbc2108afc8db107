import 'reflect-metadata';
import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { databaseEngine } from '@app/database';
import { reachableUrl } from '@app/http';
import { StartError, type Config, NestLogger } from '@app/kernel';
import { type Application, LetheModule, startProcess } from '@app/runtime';
import type { Logger } from 'pino';
import { ormOptions } from '../../../ormconfig';
import { HealthServer } from './health.server';

@Module({})
class WorkerModule {}

/**
 * Starts a worker, with the `further` modules of a team in addition to Lethe's own, and keeps it running until a
 * signal. A worker has the same modules as the api, since it may take over an erasure that removes data of any of them.
 */
export function startWorker(...further: Type[]): Promise<void> {
  return startProcess((config, logger) => create(config, logger, further));
}

async function create(given: Config, logger: Logger, further: readonly Type[]): Promise<Application> {
  if (given.database.engine === 'sqlite')
    throw new StartError(
      `A worker needs PostgreSQL (DATABASE_URL=postgres://…): the SQLite file ${given.database.path} belongs to one process, ` +
        'which is the api. It sends the webhooks and runs the jobs itself.',
    );
  // A worker always runs jobs, and it counts no rates.
  const config: Config = { ...given, jobs: 'on', redisUrl: undefined };
  // The libraries of the api without its HTTP interface.
  const imports = [LetheModule.forRoot({ config, logger, orm: ormOptions, further })];
  const nest = await NestFactory.createApplicationContext(
    { module: WorkerModule, imports, providers: [HealthServer] },
    { logger: new NestLogger(logger), abortOnError: false },
  );
  return {
    nest,
    listen: async () => {
      const url = reachableUrl(config.host, await nest.get(HealthServer).listen());
      return { url, greeting: greeting(config, url) };
    },
    // Probes are answered until the end, so nothing is drained.
    drain: async () => true,
  };
}

/** The greeting of a running worker for the operator. */
function greeting(config: Config, url: string): string {
  return [
    `Lethe's worker runs; its state is at ${url}/health/ready`,
    `  webhooks, jobs by this process`,
    `  database       ${databaseEngine(config).place}`,
    '',
  ].join('\n');
}
