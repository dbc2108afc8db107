// The same routes as an engineer usually writes them with NestJS and TypeORM: repositories, a transaction per request,
// the key looked up per request, @nestjs/throttler with its memory storage, ValidationPipe, an envelope interceptor,
// COUNT(*) behind every list. Same state, same audit events, same durability as Lethe; it answers by the same fields.
import 'reflect-metadata';
import type { Server } from 'node:http';
import { Module, ValidationPipe } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import type { Database } from 'better-sqlite3';
import { AuditController, AuditService } from './audit';
import { BotsController, BotsService } from './bots';
import { ConsentsController, ConsentsService } from './consents';
import { DataController, DataService } from './data';
import { entities, isPostgres, SnakeNames } from './entities';
import { GdprController, GdprService } from './gdpr';
import { ApiKeyGuard, EnvelopeInterceptor } from './http';
import { OutboxService } from './outbox';
import { Transactions } from './transactions';

const KEEP_ALIVE_MS = 65_000;

function database(): TypeOrmModuleOptions {
  const url = process.env.DATABASE_URL ?? '';
  const shared = { entities, synchronize: true, namingStrategy: new SnakeNames() };
  if (isPostgres)
    return { type: 'postgres', url, uuidExtension: 'pgcrypto', installExtensions: false, ...shared };
  // A commit is on the disk when it is answered, as it is in Lethe.
  const prepareDatabase = (opened: unknown) => {
    (opened as Database).pragma('journal_mode = WAL');
    (opened as Database).pragma('synchronous = FULL');
  };
  return { type: 'better-sqlite3', database: url.replace('sqlite:', ''), prepareDatabase, ...shared };
}

@Module({
  imports: [
    TypeOrmModule.forRoot(database()),
    TypeOrmModule.forFeature(entities),
    // The limit is too high to be reached. Each hit costs the storage a walk over all hits of the window: it is short, so
    // that no more are in it than a real limit would let in.
    ThrottlerModule.forRoot([{ ttl: 1_000, limit: 100_000_000 }]),
    ScheduleModule.forRoot(),
  ],
  controllers: [BotsController, ConsentsController, DataController, AuditController, GdprController],
  providers: [
    ...[Transactions, BotsService, ConsentsService, DataService, AuditService, GdprService, OutboxService],
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
  ],
})
class UsualModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create(UsualModule, { logger: ['error'] });
  app.setGlobalPrefix('api/v1');
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  const server = (await app.listen(0, '127.0.0.1')) as Server;
  // A list that blocks the event loop for seconds must not let idle connections seem forgotten.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  process.send?.(await app.getUrl());
}

void start();
