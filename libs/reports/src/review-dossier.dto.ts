import { Count, Integer, Of, OneOf, Text, Timestamp } from '@app/http';
import { MASTER_KEY_PLACES, type MasterKeyPlace } from '@app/kernel';
import { ApiProperty } from '@nestjs/swagger';
import { DOCUMENT_LANGUAGES, type DocumentLanguage } from './documents.texts';
import {
  ActivityView,
  ControllerView,
  GapView,
  PaperForm,
  RecipientView,
  RecordedSettings,
  TimeLimitView,
} from './processing-record.dto';

const TEXT_MAX = 10_000;

const Day = (description: string): PropertyDecorator =>
  ApiProperty({ type: 'string', format: 'date', description });
const Milliseconds = (description: string): PropertyDecorator => Count({ nullable: true, description });

export class ReviewDossierQuery extends PaperForm {
  @OneOf(DOCUMENT_LANGUAGES, {
    optional: true,
    description: 'The language of the sentences of the service, `en` by default',
  })
  language?: DocumentLanguage;
}

class DossierBot extends ControllerView {
  @Timestamp('When the bot was registered here') registered_at: string;
}

class DossierEncryption {
  @Text(100, 'The algorithm of all stored texts') algorithm: string;
  @OneOf(
    MASTER_KEY_PLACES,
    'Where the process has the master key from: `LETHE_MASTER_KEY` (`environment`), a key file beside the data (`file`), a file of the operator (`LETHE_MASTER_KEY_FILE`), or a program of the operator (`LETHE_MASTER_KEY_COMMAND`)',
  )
  master_key: MasterKeyPlace;
  @Of([String]) statements: readonly string[];
}

class DossierPeriod {
  @Day('The first day (UTC): 89 days ago, or the day of the registration') from: string;
  @Day('Today (UTC)') to: string;
}

class DossierDeletion extends DossierPeriod {
  @Count('Erasures that were requested, each of one user in one guild') requested: number;
  @Count('Erasures that were completed') completed: number;
  @Count('Erasures that failed') failed: number;
  @Milliseconds(
    'Half of the completed erasures took no longer from the request to the end; off by 10 % at most; null without one',
  )
  median_ms: number | null;
  @Milliseconds('The longest one, exactly; null without one') longest_ms: number | null;
  @Of([String]) statements: readonly string[];
}

class DossierConsent extends DossierPeriod {
  @Count('Requests, declined ones too; a repeat that waits is counted again only where it asks anew')
  requested: number;
  @Count('Acceptances, and ends of restrictions') accepted: number;
  @Count('Withdrawals, in whole or for categories, and restrictions; a refusal is none') revoked: number;
  @Of([String]) statements: readonly string[];
}

class DossierBackups {
  @Integer(0, 3650, '`BACKUP_RETENTION_DAYS`; 0: none are kept') retention_days: number;
  @Of([String]) statements: readonly string[];
}

/** The part of the dossier before the categories, which are streamed. */
export class ReviewDossierHead {
  @Timestamp() generated_at: string;
  @OneOf(DOCUMENT_LANGUAGES) language: DocumentLanguage;
  @Of(DossierBot) bot: DossierBot;
  @Text(2048, {
    nullable: true,
    description: 'The address of `notice_url`, or of the public notice; null without either',
  })
  privacy_policy: string | null;
  @Of(RecordedSettings, 'What the bot has said in its notice settings: controller, recipients and more')
  notice_settings: RecordedSettings;
  @Text(TEXT_MAX) data_subjects: string;
  @Of([TimeLimitView]) time_limits: TimeLimitView[];
  @Of(DossierEncryption) encryption: DossierEncryption;
  @Of([RecipientView], 'Who has access, as far as the service knows') access: RecipientView[];
  @Of(DossierDeletion) deletion: DossierDeletion;
  @Of(DossierConsent) consent: DossierConsent;
  @Of([String]) security_measures: readonly string[];
  @Of(DossierBackups) backups: DossierBackups;
  @Text(TEXT_MAX, 'Transfers to third countries, by the named recipients') transfers: string;
  @Of([String], 'What the service cannot know and the team has to add') to_add: readonly string[];
}

/** A dossier for the review of a bot by its platform; documentation of a streamed answer. */
export class ReviewDossierView extends ReviewDossierHead {
  @Of([ActivityView], 'One for each data category') activities: ActivityView[];
  @Of([GapView], 'What is missing of the declarations, at most 100') gaps: GapView[];
}
