import { AuditModule } from '@app/audit';
import { BotsModule } from '@app/bots';
import { ConsentModule } from '@app/consent';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { ErasureModule, ExportModule } from '@app/gdpr';
import { ServersModule } from '@app/servers';
import { UserDataModule } from '@app/user-data';
import { Module } from '@nestjs/common';
import { ConsoleFiles } from './console-files';
import { ConsoleController, ConsolePageGuard, ConsoleSessions } from './console-sessions';
import { PrivacyLinks1763600000022 } from './migrations/1763600000022-privacy-links';
import { PageActs } from './page-acts';
import { PageCorrections } from './page-corrections';
import { PageForms, PublicUrl } from './page-forms';
import { PageOpening } from './page-opening';
import { PageReading } from './page-reading';
import { PageController } from './page.controller';
import { PageRefusing } from './page-refusing';
import { PageView } from './page.view';
import { PrivacyLink } from './privacy-link.entity';
import { PrivacyLinksController } from './privacy-links.controller';
import { PrivacyLinksHolder, PrivacyLinksRetention } from './privacy-links.holder';
import { PrivacyLinks } from './privacy-links.service';

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
    UserDataModule,
  ],
  controllers: [PrivacyLinksController, PageController],
  providers: [
    PrivacyLinks,
    PrivacyLinksHolder,
    PrivacyLinksRetention,
    PublicUrl,
    PageReading,
    PageForms,
    PageOpening,
    PageActs,
    PageCorrections,
    PageRefusing,
    PageView,
  ],
  exports: [PublicUrl],
})
export class PrivacyPageModule {}

/** The console of a bot's team and of the operator: their sessions, and the way of its page to the interface. */
@Module({
  imports: [BotsModule],
  controllers: [ConsoleController],
  providers: [ConsoleFiles, ConsolePageGuard, ConsoleSessions],
  exports: [ConsoleFiles, ConsoleSessions],
})
export class ConsoleModule {}
