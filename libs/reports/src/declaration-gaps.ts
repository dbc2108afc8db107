import { isThirdCountry, type NoticeSettings } from '@app/bots';
import type { Category } from '@app/categories';
import { contactOf, type Declared } from './declared-facts';
import { type DocumentLanguage, TEXTS } from './documents.texts';
import type { DocumentTexts } from './documents.texts.en';
import { own, type Said, said } from './said';

/** Something that the bot has to declare, as a task for its team. */
interface Gap {
  readonly task: Said;
  /** The setting of the notice, or the field of the category, that fills it. */
  readonly field: string;
  /** The key of the category that it is about. */
  readonly category?: string;
}

/** Tasks of one document: what is done makes room for further ones. */
const GAPS_MAX = 100;

/** Collects what is missing of the declarations while a document is made. */
export class DeclarationGaps {
  readonly found: Gap[] = [];
  isMore = false;
  private categories = 0;
  private restsOnInterests = false;
  private readonly texts: DocumentTexts['gaps'];

  constructor(
    private readonly declared: Declared,
    private readonly language: DocumentLanguage,
  ) {
    const texts = (this.texts = TEXTS[language].gaps);
    const { settings } = declared;
    this.needs(settings.controller_name, 'controller_name', texts.controller);
    this.needs(settings.controller_address, 'controller_address', texts.address);
    this.needs(contactOf(declared) ?? undefined, 'controller_email', texts.contact);
    this.needs(settings.recipients, 'recipients', texts.recipients);
    for (const recipient of settings.recipients ?? []) this.lookAtRecipient(recipient);
    this.needs(settings.automated_decisions, 'automated_decisions', texts.automated);
  }

  /** Finds what is missing of a category. */
  lookAt({
    key,
    labelDe,
    labelEn,
    description,
    purposes,
    retentionDays,
    fields,
    legalBasis,
  }: Category): void {
    const { texts } = this;
    this.categories += 1;
    if (legalBasis === 'legitimate_interests') this.restsOnInterests = true;
    const label = this.language === 'de' ? labelDe : labelEn;
    const needs = (value: unknown, field: string, words: string): void =>
      this.needs(value, field, said`${own(words)}: ${label}`, key);
    const { description_de: de, description_en: en } = purposes ?? {};
    if (!de && !en) needs(description || undefined, 'description', texts.purpose);
    else {
      needs(de || undefined, 'description_de', texts.purposeIn.de);
      needs(en || undefined, 'description_en', texts.purposeIn.en);
    }
    needs(retentionDays ?? undefined, 'retention_days', texts.retention);
    needs(fields[0], 'fields', texts.fields);
  }

  /** All that is missing, after the last category. */
  end(): readonly Gap[] {
    const { interests_de: de, interests_en: en } = this.declared.settings;
    if (this.restsOnInterests) this.needs(de ?? en, `interests_${this.language}`, this.texts.interests);
    if (this.categories === 0) this.needs(undefined, 'categories', this.texts.categories);
    return this.found;
  }

  private lookAtRecipient(recipient: NonNullable<NoticeSettings['recipients']>[number]): void {
    const { texts } = this;
    const { name, country, purpose_de, purpose_en, safeguards_de, safeguards_en } = recipient;
    const needs = (value: unknown, words: string): void =>
      this.needs(value, 'recipients', said`${own(words)}: ${name}`);
    needs(purpose_de ?? purpose_en, texts.recipientPurpose);
    needs(country, texts.country);
    if (country !== undefined && isThirdCountry(country))
      needs(safeguards_de ?? safeguards_en, texts.safeguards);
  }

  /** Notes a task for the team where the value is missing. */
  needs(value: unknown, field: string, task: string | Said, category?: string): void {
    if (value !== undefined) return;
    if (this.found.length >= GAPS_MAX) this.isMore = true;
    else
      this.found.push({
        task: typeof task === 'string' ? own(task) : task,
        field,
        ...(category !== undefined && { category }),
      });
  }
}
