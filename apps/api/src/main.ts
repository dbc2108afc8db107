import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
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

async function start(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.logLevel, logStream());
  process.on('uncaughtException', (error) => {
    logger.fatal(describeFault(error), 'ended by an unforeseen error');
    process.exit(1);
  });
  const shutdown = new Shutdown(config.shutdownTimeoutMs, logger);
  shutdown.watch();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, logger),
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

start().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof StartError;
  process.stderr.write(`${known ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
});
