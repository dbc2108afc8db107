import { Module } from '@nestjs/common';
import { BotsModule } from '@app/bots';
import { ConsoleFiles } from './console-files';
import { ConsoleSessions } from './console-sessions';
import { ConsoleController } from './console.controller';

/** The console of a bot's team: its session, and the way of its page to the interface. */
@Module({
  imports: [BotsModule],
  controllers: [ConsoleController],
  providers: [ConsoleFiles, ConsoleSessions],
  exports: [ConsoleFiles, ConsoleSessions],
})
export class ConsoleModule {}
