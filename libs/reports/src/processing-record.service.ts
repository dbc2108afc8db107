import { Inject, Injectable } from '@nestjs/common';
import { Bot } from '@app/bots';
import { CategoriesService, type Category, purposeIn } from '@app/categories';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { JsonStream, TextStream } from '@app/http';
import { Clock, CONFIG, type Config, notFound } from '@app/kernel';
import { activityInMarkdown, headInMarkdown } from './processing-record.markdown';
import type { ActivityView, ProcessingRecordHead } from './reports.dto';

export const DATA_SUBJECTS =
  'Users of the platform with whom the bot deals, in the guilds that use it and in direct messages.';
export const TRANSFERS =
  'Not known to this service: it depends on the place of this installation and of the webhook receiver. Their operators have to add it.';

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

  asJson(botId: string): JsonStream {
    return new JsonStream((write) => this.send(write, (tx) => this.inJson(tx, botId)));
  }

  asMarkdown(botId: string): TextStream {
    return new TextStream('text/markdown; charset=utf-8', (write) =>
      this.send(write, (tx) => this.inMarkdown(tx, botId)),
    );
  }

  private async send(
    write: (piece: string) => Promise<void>,
    make: (tx: Tx) => AsyncGenerator<string>,
  ): Promise<void> {
    for await (const portion of inPortions(this.unitOfWork, make))
      for (const piece of portion) await write(piece);
  }

  private async *inJson(tx: Tx, botId: string): AsyncGenerator<string> {
    yield `${JSON.stringify(await this.head(tx, botId)).slice(0, -1)},"activities":[`;
    let separator = '';
    for await (const category of this.categories.each(tx, botId)) {
      yield separator + JSON.stringify(activityOf(category));
      separator = ',';
    }
    yield ']}';
  }

  private async *inMarkdown(tx: Tx, botId: string): AsyncGenerator<string> {
    yield headInMarkdown(await this.head(tx, botId));
    let isEmpty = true;
    for await (const category of this.categories.each(tx, botId)) {
      yield activityInMarkdown(activityOf(category));
      isEmpty = false;
    }
    if (isEmpty) yield '\nNo data category is declared.\n';
  }

  /** @throws ApiError 404 when the bot is deleted. */
  private async head(tx: Tx, botId: string): Promise<ProcessingRecordHead> {
    const bot = await tx.manager.findOneBy(Bot, { id: botId });
    if (bot === null) throw notFound('Bot');
    const { platformBotId: platform_bot_id, name, privacyContact: privacy_contact, webhookUrl } = bot;
    return {
      generated_at: this.clock.nowIso(),
      controller: { bot_id: botId, platform_bot_id, name, privacy_contact },
      data_subjects: DATA_SUBJECTS,
      recipients: recipientsOf(webhookUrl),
      transfers: TRANSFERS,
      time_limits: timeLimits(this.config),
      security_measures: securityMeasures(this.config),
    };
  }
}

function timeLimits(config: Config): ProcessingRecordHead['time_limits'] {
  const { revokedDataGraceDays, evidenceRetentionDays, webhookRetentionDays } = config;
  return [
    { applies_to: 'Data that rested on a consent, after its withdrawal', days: revokedDataGraceDays ?? null },
    {
      applies_to: 'Evidence of consents and of erasures, after their end, and audit events',
      days: evidenceRetentionDays,
    },
    { applies_to: 'Records of webhook calls, after these have ended', days: webhookRetentionDays },
  ];
}

export function recipientsOf(webhookUrl: string | null): ProcessingRecordHead['recipients'] {
  const bot = {
    recipient: 'The bot, by its API key',
    host: null,
    receives: 'Everything that is stored of its users, on request',
  };
  if (webhookUrl === null) return [bot];
  return [
    bot,
    {
      recipient: "The bot's webhook receiver",
      host: new URL(webhookUrl).host,
      receives: 'Ids of users and guilds whose consent was withdrawn or who were erased, versions and times',
    },
  ];
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

/**
 * The technical measures of this installation in general terms (GDPR Art. 30(1)(g), 32(1)), from its settings. Measures
 * outside of the service, such as TLS or encrypted disks, have to be added by its operator.
 */
function securityMeasures(config: Config): readonly string[] {
  const { database, nodeEnv, webhookRequireHttps, webhookAllowPrivateNetworks } = config;
  const httpsOnly =
    webhookRequireHttps === 'auto' ? nodeEnv === 'production' : webhookRequireHttps === 'true';
  return [
    'Access by API key alone; of keys only SHA-256 digests are stored. A bot reaches its own data and no other.',
    'Stored values and the details of audit events are encrypted with ChaCha20-Poly1305, by a key of its own for each user and guild.',
    'These keys and webhook secrets are encrypted under a master key that is not in the database.',
    "An erasure destroys the user's key, and of the ids leaves keyed digests alone.",
    'Data is stored under a consent in force alone, which is checked in the storing transaction.',
    'Every act on personal data is recorded in an audit log, in the transaction of the act.',
    'The audit log is sealed in signed batches: what is changed or removed afterwards is found.',
    ...(database.engine === 'sqlite'
      ? ['Deleted rows are overwritten in the database file, whose log is truncated.']
      : []),
    `Webhook calls are signed with HMAC-SHA-256${httpsOnly ? ' and go over HTTPS alone' : ''}.`,
    ...(webhookAllowPrivateNetworks === 'true'
      ? []
      : ['Webhook calls are kept from private networks and metadata services.']),
    'Requests are limited per bot and per client address.',
    'Logs, metrics and error messages hold no user ids, values, keys or secrets.',
    'Commits are durable before they are answered; interrupted erasures are finished at the next start.',
  ];
}
