import { Module } from '@nestjs/common';
import { ErasureModule } from './erasure/erasure.module';
import { ExportModule } from './export/export.module';

/** The rights of a person: erasure (Art. 17) with its proof, and export (Art. 15 and 20). */
@Module({ imports: [ErasureModule, ExportModule] })
export class GdprModule {}
