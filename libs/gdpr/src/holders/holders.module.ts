import { Module } from '@nestjs/common';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule } from '../erasure/erasure.module';
import { BotHolder } from './bot-holder.entity';
import { HolderTask } from './holder-task.entity';
import { BotHolders1763600000029 } from './migrations/1763600000029-bot-holders';

@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([BotHolder, HolderTask], [BotHolders1763600000029]),
    ErasureModule,
  ],
})
export class HoldersModule {}
