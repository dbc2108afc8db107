import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CategoriesModule } from '@app/categories';
import { DatabaseModule } from '@app/database';
import { ConsentController } from './consent.controller';
import { Consent, ConsentTransition } from './consent.entity';
import { ConsentCategoriesListener } from './consent-categories.listener';
import { ConsentHolder } from './consent.holder';
import { ConsentService } from './consent.service';

@Module({
  imports: [DatabaseModule.forFeature([Consent, ConsentTransition]), AuditModule, CategoriesModule],
  controllers: [ConsentController],
  providers: [ConsentService, ConsentHolder, ConsentCategoriesListener],
  exports: [ConsentService],
})
export class ConsentModule {}
