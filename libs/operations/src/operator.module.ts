import { Module } from '@nestjs/common';
import { BotsModule } from '@app/bots';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule } from '@app/gdpr';
import { InstallationReading } from './installation';
import { LedgerDownload } from './ledger-download.service';
import { StorageSamples1763600000025 } from './migrations/1763600000025-storage-samples';
import { OperatedBots } from './operated-bots.service';
import { OperatorStatus } from './operator-status.service';
import { OperatorController } from './operator.controller';
import { StorageSample } from './storage-sample.entity';
import { Storage, StorageSampling } from './storage.service';

/** What the operator reads and does, over HTTP; the command line reads the same. */
@Module({
  imports: [
    BotsModule,
    CryptoModule,
    ErasureModule,
    DatabaseModule.forFeature([StorageSample], [StorageSamples1763600000025]),
  ],
  controllers: [OperatorController],
  providers: [InstallationReading, OperatorStatus, OperatedBots, LedgerDownload, Storage, StorageSampling],
})
export class OperatorModule {}
