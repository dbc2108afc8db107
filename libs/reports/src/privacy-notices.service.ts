import { hash } from 'node:crypto';
import { CategoriesService, type Category, fieldsSaid, purposeIn } from '@app/categories';
import { UnitOfWork } from '@app/database';
import { CONFIG, type Config } from '@app/kernel';
import { escaped } from '@app/pages';
import { Inject, Injectable } from '@nestjs/common';
import { contactOf, declaredOf } from './declared-facts';
import { type DocumentLanguage, inLanguage } from './documents.texts';
import type { NoticeFacts, Periods } from './notice-sections';

/** Characters of the declarations in one notice, as a page would escape them: anybody may ask for it, at any time. */
const LENGTH_MAX = 256 * 1024;

/** The length of a declaration with its marks escaped. No form of a document (HTML, Markdown, JSON) is longer. */
const lengthOf = (declared: object): number => escaped(JSON.stringify(declared)).length;

/** Makes the privacy notice of a bot (GDPR Art. 13, 14) from its categories and its notice settings. */
@Injectable()
export class PrivacyNotices {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly categories: CategoriesService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** undefined for a bot that does not exist, is being deleted, or whose team has not made the notice public. */
  facts(botId: string): Promise<NoticeFacts | undefined> {
    return this.unitOfWork.read(async (tx) => {
      const declared = await declaredOf(tx, botId);
      if (declared?.settings.public !== true) return undefined;
      const categories: Category[] = [];
      let [length, isCut] = [lengthOf(declared.settings), false];
      for await (const category of this.categories.each(tx, botId)) {
        length += lengthOf(category);
        if ((isCut = length > LENGTH_MAX)) break;
        categories.push(category);
      }
      const { revokedDataGraceDays, evidenceRetentionDays, webhookRetentionDays, backupRetentionDays } =
        this.config;
      const kept = { revokedDataGraceDays, evidenceRetentionDays, webhookRetentionDays };
      const periods: Periods = { ...kept, backupRetentionDays };
      const { bot, settings, settingsAt } = declared;
      const said = [bot.name, contactOf(declared), settings, periods, isCut, categories.map(saidOf)];
      const digest = `sha256:${hash('sha256', JSON.stringify(said), 'hex')}`;
      const since = settingsAt ?? bot.createdAt;
      const times = categories.map(({ updatedAt }) => updatedAt);
      const changedAt = [since, ...times].sort().at(-1) ?? since;
      return { declared, categories, isCut, periods, digest, changedAt };
    });
  }
}

/** What a notice says about a category. */
function saidOf(category: Category): unknown[] {
  const { labelDe, labelEn, description, purposes, legalBasis, retentionDays, fields } = category;
  const said = [labelDe, labelEn, description, purposes, legalBasis, retentionDays, fieldsSaid(fields)];
  // Without it the digest is the one of earlier releases.
  return category.withoutConsent === null ? said : [...said, category.withoutConsent];
}

/** The notice for programs, in one language. */
export function noticeInJson(language: DocumentLanguage, facts: NoticeFacts): object {
  const { declared, categories, isCut, periods, digest, changedAt } = facts;
  const { bot, settings } = declared;
  const either = (name: 'interests' | 'source' | 'automated_decisions'): string | null =>
    inLanguage(language, settings[`${name}_de`], settings[`${name}_en`]) ?? null;
  return {
    bot_id: bot.id,
    bot_name: bot.name,
    language,
    digest,
    changed_at: changedAt,
    controller: {
      name: settings.controller_name,
      address: settings.controller_address ?? null,
      email: contactOf(declared),
    },
    officer: { name: settings.officer_name ?? null, email: settings.officer_email ?? null },
    categories: categories.map((category) => categoryInJson(language, category)),
    has_more_categories: isCut,
    interests: either('interests'),
    source: either('source'),
    recipients: (settings.recipients ?? []).map((one) => ({
      name: one.name,
      purpose: inLanguage(language, one.purpose_de, one.purpose_en) ?? null,
      country: one.country ?? null,
      safeguards: inLanguage(language, one.safeguards_de, one.safeguards_en) ?? null,
    })),
    automated_decisions: settings.automated_decisions ?? null,
    automated_decisions_text: settings.automated_decisions === 'exist' ? either('automated_decisions') : null,
    authority: { name: settings.authority_name ?? null, url: settings.authority_url ?? null },
    notice_url: settings.notice_url ?? null,
    retention_days: {
      data_after_withdrawal: periods.revokedDataGraceDays ?? null,
      evidence: periods.evidenceRetentionDays,
      webhook_calls: periods.webhookRetentionDays,
      backups: periods.backupRetentionDays,
    },
  };
}

function categoryInJson(language: DocumentLanguage, category: Category): object {
  const { key, labelDe, labelEn, description, purposes, legalBasis, retentionDays, fields } = category;
  const { withoutConsent } = category;
  return {
    category: key,
    label: language === 'de' ? labelDe : labelEn,
    purpose: purposeIn(language, { description, ...purposes }),
    legal_basis: legalBasis,
    ...(withoutConsent !== null && { requires_consent: false, reason: withoutConsent[`reason_${language}`] }),
    retention_days: retentionDays,
    fields: fields.map((field) => ({
      key: field.key,
      label: language === 'de' ? field.label_de : field.label_en,
      purpose: purposeIn(language, field),
    })),
  };
}
