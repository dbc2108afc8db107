import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { ConsentModule } from '@app/consent';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule, ExportModule } from '@app/gdpr';
import { ServersModule } from '@app/servers';
import { PrivacyLinks1763600000022 } from './migrations/1763600000022-privacy-links';
import { PageActs } from './page-acts';
import { PageForms } from './page-forms';
import { PageReading } from './page-reading';
import { PageController } from './page.controller';
import { PageView } from './page.view';
import { PrivacyLink } from './privacy-link.entity';
import { PrivacyLinksController } from './privacy-links.controller';
import { PrivacyLinksHolder, PrivacyLinksRetention } from './privacy-links.holder';
import { PrivacyLinks } from './privacy-links.service';
import { PublicUrl } from './public-url';

/** The privacy page of a user, and the links that lead to it. */
@Module({
  imports: [
    CryptoModule,
    DatabaseModule.forFeature([PrivacyLink], [PrivacyLinks1763600000022]),
    AuditModule,
    ConsentModule,
    ErasureModule,
    ExportModule,
    ServersModule,
  ],
  controllers: [PrivacyLinksController, PageController],
  providers: [
    PrivacyLinks,
    PrivacyLinksHolder,
    PrivacyLinksRetention,
    PublicUrl,
    PageReading,
    PageForms,
    PageActs,
    PageView,
  ],
})
export class PrivacyPageModule {}
