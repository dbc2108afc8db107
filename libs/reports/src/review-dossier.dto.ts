import { Count, Integer, OneOf, Text, Timestamp } from '@app/http';
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

const Sentences = (): PropertyDecorator => ApiProperty({ type: [String] });
const Day = (description: string): PropertyDecorator =>
  ApiProperty({ type: 'string', format: 'date', description });
const Milliseconds = (description: string): PropertyDecorator =>
  Integer(0, Number.MAX_SAFE_INTEGER, { nullable: true, description });

export class ReviewDossierQuery extends PaperForm {
  @OneOf(DOCUMENT_LANGUAGES, {
    optional: true,
    description: 'The language of the sentences of the service, `en` by default',
  })
  language?: DocumentLanguage;
}

class DossierBot extends ControllerView {
  @Timestamp({ description: 'When the bot was registered here' }) registered_at: string;
}

class DossierEncryption {
  @Text(100, { description: 'The algorithm of all stored texts' }) algorithm: string;
  @OneOf(MASTER_KEY_PLACES, {
    description:
      'Where the process has the master key from: `LETHE_MASTER_KEY` (`environment`), a key file beside the data (`file`), a file of the operator (`LETHE_MASTER_KEY_FILE`), or a program of the operator (`LETHE_MASTER_KEY_COMMAND`)',
  })
  master_key: MasterKeyPlace;
  @Sentences() statements: readonly string[];
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
  @Sentences() statements: readonly string[];
}

class DossierConsent extends DossierPeriod {
  @Count('Requests, declined ones too; a repeat that waits is counted again only where it asks anew')
  requested: number;
  @Count('Acceptances, and ends of restrictions') accepted: number;
  @Count('Withdrawals, in whole or for categories, and restrictions; a refusal is none') revoked: number;
  @Sentences() statements: readonly string[];
}

class DossierBackups {
  @Integer(0, 3650, { description: '`BACKUP_RETENTION_DAYS`; 0: none are kept' }) retention_days: number;
  @Sentences() statements: readonly string[];
}

/** The part of the dossier before the categories, which are streamed. */
export class ReviewDossierHead {
  @Timestamp() generated_at: string;
  @OneOf(DOCUMENT_LANGUAGES) language: DocumentLanguage;
  @ApiProperty({ type: DossierBot }) bot: DossierBot;
  @Text(2048, {
    nullable: true,
    description: 'The address of `notice_url`, or of the public notice; null without either',
  })
  privacy_policy: string | null;
  @ApiProperty({
    type: RecordedSettings,
    description: 'What the bot has said in its notice settings: controller, recipients and more',
  })
  notice_settings: RecordedSettings;
  @Text(TEXT_MAX) data_subjects: string;
  @ApiProperty({ type: [TimeLimitView] }) time_limits: TimeLimitView[];
  @ApiProperty({ type: DossierEncryption }) encryption: DossierEncryption;
  @ApiProperty({ type: [RecipientView], description: 'Who has access, as far as the service knows' })
  access: RecipientView[];
  @ApiProperty({ type: DossierDeletion }) deletion: DossierDeletion;
  @ApiProperty({ type: DossierConsent }) consent: DossierConsent;
  @ApiProperty({ type: [String] }) security_measures: readonly string[];
  @ApiProperty({ type: DossierBackups }) backups: DossierBackups;
  @Text(TEXT_MAX, { description: 'Transfers to third countries, by the named recipients' })
  transfers: string;
  @ApiProperty({ type: [String], description: 'What the service cannot know and the team has to add' })
  to_add: readonly string[];
}

/** A dossier for the review of a bot by its platform; documentation of a streamed answer. */
export class ReviewDossierView extends ReviewDossierHead {
  @ApiProperty({ type: [ActivityView], description: 'One for each data category' })
  activities: ActivityView[];
  @ApiProperty({ type: [GapView], description: 'What is missing of the declarations, at most 100' })
  gaps: GapView[];
}
