import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { SubjectDataHolders } from './subject-data';

/** The holders of subject data of every module of the application. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [SubjectDataHolders],
  exports: [SubjectDataHolders],
})
export class SubjectsModule {}
