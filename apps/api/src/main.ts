import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Config, ConfigError, createLogger, loadConfig, NestLogger } from '@app/common';
import { StartError } from '@app/database';
import { AppModule } from './app.module';
import { configureApp, newHttpAdapter } from './configure-app';
import { Readiness } from './readiness';

async function start(config: Config): Promise<void> {
  const logger = createLogger(config.logLevel);
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, logger),
    newHttpAdapter(),
    {
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  configureApp(app);
  await app.listen(config.port, config.host);
  app.get(Readiness).ready = true;
}

start(loadConfig()).catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof StartError;
  process.stderr.write(`${known ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
});
