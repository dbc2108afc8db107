import { CategoriesService, type Category, purposeIn } from '@app/categories';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { JsonStream, TextStream } from '@app/http';
import { Clock, CONFIG, type Config, EgressPolicy, notFound } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { DeclarationGaps } from './declaration-gaps';
import { type Declared, declaredOf } from './declared-facts';
import { HTML } from './document.html';
import { MARKDOWN } from './document.markdown';
import { type DocumentLanguage, TEXTS } from './documents.texts';
import type { DocumentTexts } from './documents.texts.en';
import type { ActivityView, ProcessingRecordHead } from './processing-record.dto';
import {
  activitySection,
  gapsSection,
  noActivity,
  recordHead,
  type RecordMaking,
  recordSections,
  transferSentences,
} from './record-sections';
import { type DocumentForm, textOf } from './said';
import { securityMeasures } from './security-measures';

/**
 * The record of processing activities (GDPR Art. 30(1)), as far as the service can give it: the declarations of the bot
 * and the measures of this installation. Read in portions of bounded size, for any number of categories.
 */
@Injectable()
export class ProcessingRecords {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly categories: CategoriesService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly egress: EgressPolicy,
  ) {}

  /** With a language also what the bot has said in its notice settings, and what is missing. */
  asJson(botId: string, language?: DocumentLanguage): JsonStream {
    return new JsonStream((write) => this.send(write, (tx) => this.inJson(tx, botId, language)));
  }

  asMarkdown(botId: string, language: DocumentLanguage): TextStream {
    return this.document(botId, language, MARKDOWN);
  }

  asHtml(botId: string, language: DocumentLanguage): TextStream {
    return this.document(botId, language, HTML);
  }

  private document(botId: string, language: DocumentLanguage, form: DocumentForm): TextStream {
    const write = (piece: (text: string) => Promise<void>): Promise<void> =>
      this.send(piece, (tx) => this.inDocument(tx, botId, language, form));
    return new TextStream(form.contentType, write, undefined, form.headers);
  }

  private async send(
    write: (piece: string) => Promise<void>,
    make: (tx: Tx) => AsyncGenerator<string>,
  ): Promise<void> {
    for await (const portion of inPortions(this.unitOfWork, make))
      for (const piece of portion) await write(piece);
  }

  private async *inJson(tx: Tx, botId: string, language?: DocumentLanguage): AsyncGenerator<string> {
    const { record, declared } = await this.begun(tx, botId, language ?? 'en');
    const further = language && { ...declaredIn(language, declared), language };
    yield `${JSON.stringify({ ...record, ...further }).slice(0, -1)},"activities":[`;
    const gaps = new DeclarationGaps(declared, language ?? 'en');
    let separator = '';
    for await (const category of this.categories.each(tx, botId)) {
      gaps.lookAt(category);
      yield separator + JSON.stringify(activityOf(category));
      separator = ',';
    }
    yield language === undefined
      ? ']}'
      : `],"gaps":${JSON.stringify(gaps.end().map(({ task, ...gap }) => ({ task: textOf(task), ...gap })))}}`;
  }

  private async *inDocument(
    tx: Tx,
    botId: string,
    language: DocumentLanguage,
    form: DocumentForm,
  ): AsyncGenerator<string> {
    const making = await this.begun(tx, botId, language);
    const gaps = new DeclarationGaps(making.declared, language);
    yield (
      form.head(recordHead(making)) +
      recordSections(making)
        .map((one) => form.section(one))
        .join('')
    );
    let isEmpty = true;
    for await (const category of this.categories.each(tx, botId)) {
      gaps.lookAt(category);
      yield form.section(activitySection(language, activityOf(category)));
      isEmpty = false;
    }
    if (isEmpty) yield form.section(noActivity(language));
    yield form.section(gapsSection(language, gaps)) + form.tail;
  }

  /** @throws ApiError 404 when the bot is deleted. */
  private async begun(tx: Tx, botId: string, language: DocumentLanguage): Promise<RecordMaking> {
    const declared = await declaredOf(tx, botId);
    if (declared === undefined) throw notFound('Bot');
    const {
      platformBotId: platform_bot_id,
      name,
      privacyContact: privacy_contact,
      webhookUrl,
    } = declared.bot;
    const { record: words } = TEXTS[language];
    const record = {
      generated_at: this.clock.nowIso(),
      controller: { bot_id: botId, platform_bot_id, name, privacy_contact },
      data_subjects: words.subjects,
      recipients: recipientsOf(webhookUrl, words.receives),
      transfers: words.transfersUnknown,
      time_limits: timeLimits(this.config, words.limits),
      security_measures: securityMeasures(this.config, this.egress, words.measures),
    };
    return { language, declared, record };
  }
}

/** What a record in a language has besides: the settings, and the transfers that follow from their recipients. */
function declaredIn(language: DocumentLanguage, declared: Declared): object {
  const transfers = transferSentences(language, declared).map(textOf);
  return {
    ...(transfers.length > 0 && { transfers: transfers.join('\n') }),
    notice_settings: declared.settings,
  };
}

type Words = DocumentTexts['record'];

function timeLimits(config: Config, words: Words['limits']): ProcessingRecordHead['time_limits'] {
  const { revokedDataGraceDays, evidenceRetentionDays, webhookRetentionDays } = config;
  return [
    { applies_to: words.withdrawn, days: revokedDataGraceDays ?? null },
    { applies_to: words.evidence, days: evidenceRetentionDays },
    { applies_to: words.webhooks, days: webhookRetentionDays },
  ];
}

export function recipientsOf(
  webhookUrl: string | null,
  words: Words['receives'],
): ProcessingRecordHead['recipients'] {
  const bot = { recipient: words.bot, host: null, receives: words.botReceives };
  if (webhookUrl === null) return [bot];
  const { host } = new URL(webhookUrl);
  return [bot, { recipient: words.receiver, host, receives: words.receiverReceives }];
}

function activityOf(category: Category): ActivityView {
  const { key, labelDe, labelEn, labels, description, purposes, legalBasis, retentionDays, fields } =
    category;
  const { description_de: german, description_en: english, descriptions: further } = purposes ?? {};
  return {
    category: key,
    label_de: labelDe,
    label_en: labelEn,
    ...(labels !== null && { labels }),
    purpose: purposeIn('en', { description, ...purposes }),
    ...(german !== undefined && { purpose_de: german }),
    ...(english !== undefined && { purpose_en: english }),
    ...(further !== undefined && { purposes: further }),
    legal_basis: legalBasis,
    retention_days: retentionDays,
    fields: [...fields],
  };
}
