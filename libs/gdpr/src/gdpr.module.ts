import { Module } from '@nestjs/common';
import { ErasureModule } from './erasure/erasure.module';
import { ExportModule } from './export/export.module';
import { HoldersModule } from './holders/holders.module';

/** The rights of a person: erasure (Art. 17) with its proof, here and in the stores of the bot, and export (Art. 15 and 20). */
@Module({ imports: [ErasureModule, ExportModule, HoldersModule] })
export class GdprModule {}
