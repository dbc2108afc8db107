import { Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { ApiKey, Bot } from './bot.entity';
import { BotsController } from './bots.controller';
import { BotsService } from './bots.service';
import { KeyDirectory } from './key-directory';

@Module({
  imports: [DatabaseModule.forFeature([Bot, ApiKey])],
  controllers: [BotsController],
  providers: [BotsService, KeyDirectory],
  exports: [KeyDirectory],
})
export class BotsModule {}
