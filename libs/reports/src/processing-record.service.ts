import { erasureDays } from '@app/crypto';
import type { AnswerStream } from '@app/http';
import { Clock, CONFIG, type Config, EgressPolicy, requiresHttps } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { DeclarationGaps } from './declaration-gaps';
import type { Declared } from './declared-facts';
import { type DocumentLanguage, TEXTS } from './documents.texts';
import { type DocumentTexts, EN } from './documents.texts.en';
import { type PaperFormat, Papers } from './papers';
import type { ProcessingRecordHead } from './processing-record.dto';
import { recordHead, type RecordMaking, recordSections, transferSentences } from './record-sections';
import { textOf } from './said';

/**
 * The record of processing activities (GDPR Art. 30(1)), as far as the service can give it: the declarations of the bot
 * and the measures of this installation.
 */
@Injectable()
export class ProcessingRecords {
  constructor(
    private readonly papers: Papers,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly egress: EgressPolicy,
  ) {}

  /** As JSON with a language also what the bot has said in its notice settings, and what is missing. */
  of(botId: string, format: PaperFormat, asked?: DocumentLanguage): AnswerStream {
    const language = asked ?? 'en';
    return this.papers.send({ botId, language, format }, (declared) => {
      const making = { language, declared, record: this.headOf(declared, language) };
      return {
        fields: { ...making.record, ...(asked && { ...declaredIn(making), language }) },
        gaps: new DeclarationGaps(declared, language),
        hasGapsInJson: asked !== undefined,
        head: recordHead(making),
        before: () => recordSections(making),
        after: () => [],
      };
    });
  }

  /** What a record says around the categories. */
  headOf({ bot, storesWithoutConsent }: Declared, language: DocumentLanguage): ProcessingRecordHead {
    const { id: bot_id, platformBotId: platform_bot_id, name, privacyContact: privacy_contact } = bot;
    const { record: words } = TEXTS[language];
    return {
      generated_at: this.clock.nowIso(),
      controller: { bot_id, platform_bot_id, name, privacy_contact },
      data_subjects: words.subjects,
      recipients: recipientsOf(bot.webhookUrl, words.receives),
      transfers: words.transfersUnknown,
      time_limits: timeLimits(this.config, words.limits),
      security_measures: securityMeasures(this.config, this.egress, words.measures, storesWithoutConsent),
    };
  }
}

/** What a record in a language has besides: the settings, and the transfers that follow from their recipients. */
function declaredIn({ language, declared, record }: RecordMaking): object {
  const transfers = transferSentences(language, declared).map(textOf);
  return {
    ...(transfers.length > 0 && { transfers: [...transfers, record.transfers].join('\n') }),
    notice_settings: declared.settings,
  };
}

type Words = DocumentTexts['record'];

function timeLimits(config: Config, words: Words['limits']): ProcessingRecordHead['time_limits'] {
  const { revokedDataGraceDays, evidenceRetentionDays, webhookRetentionDays, backupRetentionDays } = config;
  const ofErasure = erasureDays(config);
  return [
    { applies_to: words.withdrawn, days: revokedDataGraceDays ?? null },
    ...(ofErasure === evidenceRetentionDays
      ? [{ applies_to: words.evidence, days: ofErasure }]
      : [
          { applies_to: words.consents, days: evidenceRetentionDays },
          { applies_to: words.erasures, days: ofErasure },
        ]),
    { applies_to: words.webhooks, days: webhookRetentionDays },
    { applies_to: words.ids, days: null },
    ...(backupRetentionDays === 0 ? [] : [{ applies_to: words.backups, days: backupRetentionDays }]),
  ];
}

function recipientsOf(
  webhookUrl: string | null,
  words: Words['receives'],
): ProcessingRecordHead['recipients'] {
  const bot = { recipient: words.bot, host: null, receives: words.botReceives };
  if (webhookUrl === null) return [bot];
  const { host } = new URL(webhookUrl);
  return [bot, { recipient: words.receiver, host, receives: words.receiverReceives }];
}

type Measures = Words['measures'];

/**
 * The technical measures of this installation in general terms (GDPR Art. 30(1)(g), 32(1)), from its settings. Measures
 * outside of the service, such as TLS or encrypted disks, have to be added by its operator.
 */
function securityMeasures(
  config: Config,
  egress: Pick<EgressPolicy, 'allowsAddress'>,
  measures: Measures,
  storesWithoutConsent: boolean,
): readonly string[] {
  const { database } = config;
  const httpsOnly = requiresHttps(config);
  const [isLocalAllowed, isPrivateAllowed] = ['127.0.0.1', '10.0.0.1'].map((one) =>
    egress.allowsAddress(one),
  );
  const isShown: Partial<Record<keyof Measures, boolean>> = {
    consent: !storesWithoutConsent,
    consentUnlessNamed: storesWithoutConsent,
    overwritten: database.engine === 'sqlite',
    signed: !httpsOnly,
    signedOverHttps: httpsOnly,
    networks: isLocalAllowed === false,
    networksButOwn: isLocalAllowed === true && isPrivateAllowed === false,
  };
  const names = Object.keys(EN.record.measures) as (keyof Measures)[];
  return names.filter((name) => isShown[name] !== false).map((name) => measures[name]);
}
