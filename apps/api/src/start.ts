import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { databaseEngine } from '@app/database';
import { isWildcard, LetheHttpAdapter, reachableUrl } from '@app/http';
import { type Config, describeFault, NestLogger } from '@app/kernel';
import { ConsoleFiles } from '@app/pages';
import { type Application, listenFault, startProcess } from '@app/runtime';
import type { Logger } from 'pino';
import { AppModule } from './app.module';
import { configureApp } from './configure-app';

/**
 * Starts the service, with the `further` modules of a team in addition to Lethe's own, and keeps it running until a
 * signal.
 */
export function start(...further: Type[]): Promise<void> {
  return startProcess((config, logger) => create(config, logger, further));
}

async function create(config: Config, logger: Logger, further: readonly Type[]): Promise<Application> {
  const adapter = new LetheHttpAdapter(config);
  const nest = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, logger, further),
    adapter,
    { logger: new NestLogger(logger), abortOnError: false },
  );
  configureApp(nest);
  await nest.init();
  return {
    nest,
    listen: async () => {
      const { host, port } = config;
      await nest.listen(port, host).catch((error: unknown) => {
        throw listenFault(error, { host, port, setting: 'PORT' });
      });
      // Of a connection that could not be accepted: the next one may be.
      nest
        .getHttpServer()
        .on('error', (error: Error) => logger.warn(describeFault(error), 'A caller had no connection'));
      const bound = nest.getHttpServer().address() as AddressInfo;
      const hasConsole = nest.get(ConsoleFiles).find('/console') !== undefined;
      return { url: await nest.getUrl(), greeting: greeting(config, bound.port, hasConsole) };
    },
    drain: (timeoutMs) => adapter.drain(timeoutMs),
  };
}

/** The greeting of a running service for the operator. */
export function greeting(config: Config, port: number, hasConsole: boolean): string {
  const base = reachableUrl(config.host, port);
  const operator = config.operatorToken === '' ? 'OPERATOR_TOKEN once it is set' : 'OPERATOR_TOKEN';
  const tiers = [...config.tiers].map(([name, limit]) => `${name} ${limit}`).join(', ');
  return [
    `Lethe listens on ${base}${isWildcard(config.host) ? ' and on every other address of this machine' : ''}`,
    `  documentation  ${base}/docs`,
    ...(hasConsole
      ? [`  console        ${base}/console, with the API key of a bot, or with ${operator}`]
      : []),
    `  database       ${databaseEngine(config).place}`,
    `  webhooks, jobs ${config.jobs === 'on' ? 'by this process' : 'left to workers (JOBS=off)'}`,
    `  limiter        ${counter(config)}; requests per minute: ${tiers}, without a key ${config.anonymousLimit}; bots:tier moves a bot to another tier`,
    '',
  ].join('\n');
}

function counter({ redisUrl }: Config): string {
  return redisUrl === undefined ? 'in the memory of this process' : `in Redis, ${new URL(redisUrl).host}`;
}
