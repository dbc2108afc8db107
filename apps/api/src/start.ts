import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { LetheHttpAdapter } from '@app/http';
import { type Config, NestLogger } from '@app/kernel';
import { type Application, listenFault, startProcess } from '@app/runtime';
import type { Logger } from 'pino';
import { AppModule } from './app.module';
import { configureApp, newHttpAdapter } from './configure-app';
import { greeting } from './greeting';

/**
 * Starts the service, with the `further` modules of a team in addition to Lethe's own, and keeps it running until a
 * signal.
 */
export function start(...further: Type[]): Promise<void> {
  return startProcess((config, logger) => create(config, logger, further));
}

async function create(config: Config, logger: Logger, further: readonly Type[]): Promise<Application> {
  const nest = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, logger, further),
    newHttpAdapter(config),
    {
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  configureApp(nest);
  await nest.init();
  const adapter = nest.getHttpAdapter() as unknown as LetheHttpAdapter;
  return {
    nest,
    listen: async () => {
      const { host, port } = config;
      await nest.listen(port, host).catch((error: unknown) => {
        throw listenFault(error, { host, port, setting: 'PORT' });
      });
      return {
        url: await nest.getUrl(),
        greeting: greeting(config, nest.getHttpServer().address() as AddressInfo),
      };
    },
    drain: (timeoutMs) => adapter.drain(timeoutMs),
  };
}
