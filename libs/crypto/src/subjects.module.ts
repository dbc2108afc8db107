import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ConsentedDataHolders } from './consented-data';
import { SubjectDataHolders } from './subject-data';

/** The holders of data about subjects, of every module of the application. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [SubjectDataHolders, ConsentedDataHolders],
  exports: [SubjectDataHolders, ConsentedDataHolders],
})
export class SubjectsModule {}
