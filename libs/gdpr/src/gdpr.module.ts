import { Module } from '@nestjs/common';
import { ErasureModule } from '@app/erasure';
import { ExportModule } from '@app/export';
import { ReportsModule } from '@app/reports';

/** The rights of a person and the duties of a controller: erasure, export and reports. */
@Module({ imports: [ErasureModule, ExportModule, ReportsModule] })
export class GdprModule {}
