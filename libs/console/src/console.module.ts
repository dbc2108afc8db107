import { Module } from '@nestjs/common';
import { ConsoleSessions } from './console-sessions';
import { ConsoleController } from './console.controller';

/** The console of a bot's team: its session, and the way of its page to the interface. */
@Module({ controllers: [ConsoleController], providers: [ConsoleSessions], exports: [ConsoleSessions] })
export class ConsoleModule {}
