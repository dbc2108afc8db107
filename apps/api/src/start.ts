import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  type Config,
  ConfigError,
  createLogger,
  describeFault,
  loadConfig,
  logStream,
  NestLogger,
} from '@app/common';
import { StartError } from '@app/database';
import type { Logger } from 'pino';
import { AppModule } from './app.module';
import { configureApp, newHttpAdapter } from './configure-app';
import { greeting, listenFault } from './greeting';
import { Readiness } from './readiness';
import { Shutdown } from './shutdown';

/**
 * Starts the service, with the `further` modules of a team beside Lethe's own, and keeps it running until a signal. A
 * configuration or database that cannot be used is told in readable lines on standard error; the exit code is 1 then.
 */
export async function start(...further: Type[]): Promise<void> {
  try {
    await run(further);
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`${known ? error.message : String((error as Error).stack)}\n`);
    process.exit(1);
  }
}

async function run(further: readonly Type[]): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.logLevel, logStream());
  process.on('uncaughtException', (error) => {
    logger.fatal(describeFault(error), 'ended by an unforeseen error');
    process.exit(1);
  });
  const shutdown = new Shutdown(config.shutdownTimeoutMs, logger);
  shutdown.watch();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, logger, further),
    newHttpAdapter(),
    {
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  configureApp(app);
  await app.init();
  if (shutdown.takes(app)) await listen(app, config, logger);
}

async function listen(app: NestExpressApplication, config: Config, logger: Logger): Promise<void> {
  await app.listen(config.port, config.host).catch((error: unknown) => {
    throw listenFault(error, config);
  });
  app.get(Readiness).ready = true;
  logger.info({ url: await app.getUrl() }, 'listening');
  // On standard error, so that standard output holds nothing but the structured log.
  process.stderr.write(greeting(config, app.getHttpServer().address() as AddressInfo));
}
