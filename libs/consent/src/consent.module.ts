import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CategoriesModule } from '@app/categories';
import { DatabaseModule } from '@app/database';
import { ConsentAcceptAct } from './consent-accept.act';
import { ConsentDeclineAct } from './consent-decline.act';
import { ConsentHistoryPruning } from './consent-history-pruning';
import { ConsentReceipts } from './consent-receipts.service';
import { ConsentRequestAct } from './consent-request.act';
import { ConsentRevokeAct } from './consent-revoke.act';
import { ConsentTextsController } from './consent-texts.controller';
import { ConsentTextsService } from './consent-texts.service';
import { ConsentWriter } from './consent-writer';
import { ConsentController } from './consent.controller';
import { Consent, ConsentHistoryEntry, ConsentText, ConsentWords } from './consent.entity';
import { ConsentCategories, ConsentHolder } from './consent.holder';
import { ConsentService } from './consent.service';
import { Consents1763600000004 } from './migrations/1763600000004-consents';
import { ReservedSources1763600000024 } from './migrations/1763600000024-reserved-sources';
import { NamedRequests } from './named-requests';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

const ACTS = [ConsentRequestAct, ConsentAcceptAct, ConsentDeclineAct, ConsentRevokeAct];

@Module({
  imports: [
    DatabaseModule.forFeature(
      [Consent, ConsentText, ConsentHistoryEntry, ConsentWords],
      [Consents1763600000004, ReservedSources1763600000024],
    ),
    AuditModule,
    CategoriesModule,
  ],
  controllers: [ConsentController, ConsentTextsController, UsersController],
  providers: [
    ...ACTS,
    ConsentService,
    ConsentReceipts,
    ConsentTextsService,
    ConsentWriter,
    NamedRequests,
    UsersService,
    ConsentHistoryPruning,
    ConsentHolder,
    ConsentCategories,
  ],
  exports: [...ACTS, ConsentService, ConsentReceipts, ConsentHistoryPruning],
})
export class ConsentModule {}
