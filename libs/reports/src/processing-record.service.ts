import { Inject, Injectable } from '@nestjs/common';
import { Bot } from '@app/bots';
import { CategoriesService, type Category } from '@app/categories';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { JsonStream, TextStream } from '@app/http';
import { Clock, CONFIG, type Config, notFound } from '@app/kernel';
import type { Activity, ProcessingRecordHead } from './processing-record.dto';
import { activityInMarkdown, headInMarkdown } from './processing-record.markdown';
import { RECORD_TEXTS, type RecordLanguage } from './processing-record.texts';
import type { RecordTexts } from './processing-record.texts.en';
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
  ) {}

  asJson(botId: string, language: RecordLanguage): JsonStream {
    return new JsonStream((write) => this.send(write, (tx) => this.inJson(tx, botId, language)));
  }

  asMarkdown(botId: string, language: RecordLanguage): TextStream {
    return new TextStream('text/markdown; charset=utf-8', (write) =>
      this.send(write, (tx) => this.inMarkdown(tx, botId, language)),
    );
  }

  private async send(
    write: (piece: string) => Promise<void>,
    make: (tx: Tx) => AsyncGenerator<string>,
  ): Promise<void> {
    for await (const portion of inPortions(this.unitOfWork, make))
      for (const piece of portion) await write(piece);
  }

  private async *inJson(tx: Tx, botId: string, language: RecordLanguage): AsyncGenerator<string> {
    yield `${JSON.stringify(await this.head(tx, botId, language)).slice(0, -1)},"activities":[`;
    let separator = '';
    for await (const category of this.categories.each(tx, botId)) {
      yield separator + JSON.stringify(activityOf(category));
      separator = ',';
    }
    yield ']}';
  }

  private async *inMarkdown(tx: Tx, botId: string, language: RecordLanguage): AsyncGenerator<string> {
    yield headInMarkdown(await this.head(tx, botId, language), language);
    let isEmpty = true;
    for await (const category of this.categories.each(tx, botId)) {
      yield activityInMarkdown(activityOf(category), language);
      isEmpty = false;
    }
    if (isEmpty) yield `\n${RECORD_TEXTS[language].document.noActivity}\n`;
  }

  /** @throws ApiError 404 when the bot is deleted. */
  private async head(tx: Tx, botId: string, language: RecordLanguage): Promise<ProcessingRecordHead> {
    const bot = await tx.manager.findOneBy(Bot, { id: botId });
    if (bot === null) throw notFound('Bot');
    const { platformBotId: platform_bot_id, name, privacyContact: privacy_contact, webhookUrl } = bot;
    const texts = RECORD_TEXTS[language];
    return {
      generated_at: this.clock.nowIso(),
      controller: { bot_id: botId, platform_bot_id, name, privacy_contact },
      data_subjects: texts.subjects,
      recipients: recipientsOf(webhookUrl, texts),
      transfers: texts.transfers,
      time_limits: timeLimits(this.config, texts),
      security_measures: securityMeasures(this.config, texts),
    };
  }
}

function timeLimits(config: Config, texts: RecordTexts): ProcessingRecordHead['time_limits'] {
  const { revokedDataGraceDays, evidenceRetentionDays, webhookRetentionDays } = config;
  return [
    { applies_to: texts.withdrawn, days: revokedDataGraceDays ?? null },
    { applies_to: texts.evidence, days: evidenceRetentionDays },
    { applies_to: texts.webhooks, days: webhookRetentionDays },
  ];
}

function recipientsOf(webhookUrl: string | null, texts: RecordTexts): ProcessingRecordHead['recipients'] {
  const bot = { recipient: texts.bot, host: null, receives: texts.botReceives };
  if (webhookUrl === null) return [bot];
  const { host } = new URL(webhookUrl);
  return [bot, { recipient: texts.receiver, host, receives: texts.receiverReceives }];
}

function activityOf(category: Category): Activity {
  const { key, labelDe, labelEn, description, legalBasis, retentionDays, fields } = category;
  return {
    category: key,
    label_de: labelDe,
    label_en: labelEn,
    purpose: description,
    legal_basis: legalBasis,
    retention_days: retentionDays,
    fields: [...fields],
  };
}
