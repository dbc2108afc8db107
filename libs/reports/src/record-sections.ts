import { purposeIn } from '@app/categories';
import { declaredIn, givenFacts, type NamedFact, recipientIn } from '@app/pages';
import type { DeclarationGaps } from './declaration-gaps';
import { automatedIn, contactOf, type Declared, isWithoutTransfers, transfersIn } from './declared-facts';
import { basisIn, type DocumentLanguage, TEXTS, timeIn } from './documents.texts';
import type { ActivityView, ProcessingRecordHead } from './processing-record.dto';
import { type Block, type Head, mailTo, own, type Said, said, section, type Section, stated } from './said';

/** A record while its document is made. */
export interface RecordMaking {
  readonly language: DocumentLanguage;
  readonly declared: Declared;
  readonly record: ProcessingRecordHead;
}

export function recordHead({ language, record }: RecordMaking): Head {
  const { title, basis } = TEXTS[language].record;
  return { language, title: own(title), lead: own(basis(timeIn(language, record.generated_at))) };
}

/** The sections before the categories. */
export function recordSections(making: RecordMaking): Section[] {
  const { language, declared, record } = making;
  const texts = TEXTS[language];
  const words = texts.record;
  const { recipients, time_limits: limits, security_measures: measures } = record;
  const named = (declared.settings.recipients ?? []).map((one) => recipientIn(language, one));
  const { interests, source } = declaredIn(language, declared.settings);
  const known = accessItems(recipients);
  const limited = limitItems(language, limits);
  return [
    section(texts.controller, { facts: controllerFacts(language, declared) }),
    section(words.subjectsTitle, { text: own(record.data_subjects) }),
    // What Art. 13 asks for and Art. 30 does not, as far as the bot has said it.
    ...stated(texts.interests, interests),
    ...stated(texts.source, source),
    ...stated(texts.automated, automatedIn(language, declared)),
    section(texts.recipients, { items: [...known, ...named] }),
    section(texts.transfers, transfers(language, declared)),
    section(words.limitsTitle, { items: [...limited, own(words.ofCategories)] }),
    section(words.measuresTitle, { items: measures.map(own) }),
    section(words.activitiesTitle),
  ];
}

export function accessItems(recipients: ProcessingRecordHead['recipients']): Said[] {
  return recipients.map(({ recipient, host, receives }) =>
    host === null ? own(`${recipient}: ${receives}`) : said`${own(recipient)} (${host}): ${own(receives)}`,
  );
}

export function limitItems(language: DocumentLanguage, limits: ProcessingRecordHead['time_limits']): Said[] {
  const { days: inDays, record } = TEXTS[language];
  return limits.map(({ applies_to: what, days }) =>
    own(`${what}: ${days === null ? record.noLimit : inDays(days)}`),
  );
}

export function controllerFacts(language: DocumentLanguage, declared: Declared): NamedFact[] {
  const texts = TEXTS[language];
  const words = texts.record;
  const { name, address, officer, authority, policy } = declaredIn(language, declared.settings);
  const { name: bot, id, platformBotId: platformId } = declared.bot;
  const missing = own(words.notGiven);
  return givenFacts([
    [texts.name, name ?? missing],
    [texts.address, address ?? missing],
    [texts.contact, mailTo(contactOf(declared)) ?? missing],
    [texts.officer, officer ?? missing],
    [texts.authority, authority],
    [texts.policy, policy],
    [texts.bot, said`${bot}, ${id} (${own(words.platformId)} ${platformId})`],
  ]);
}

/** {@link transferSentences}, and that the places of the installation and of the webhook receiver are not known. */
export function transfers(language: DocumentLanguage, declared: Declared): Block {
  const found = transferSentences(language, declared);
  const { transfersUnknown: unknown } = TEXTS[language].record;
  return found.length > 0 ? { items: [...found, own(unknown)] } : { text: own(unknown) };
}

/** What the named recipients say about transfers; nothing while it is not known of each. */
export function transferSentences(language: DocumentLanguage, declared: Declared): Said[] {
  const found = transfersIn(language, declared);
  if (found.length > 0) return found;
  return isWithoutTransfers(declared) ? [own(TEXTS[language].record.noTransfers)] : [];
}

export function activitySection(language: DocumentLanguage, activity: ActivityView): Section {
  const texts = TEXTS[language];
  const words = texts.record;
  const { purpose, retention_days: days, label_en: en, label_de: de } = activity;
  const purposes = inBoth(language, purpose, activity.purpose_de);
  const reason = inBoth(language, activity.reason_en ?? '', activity.reason_de);
  const rows = activity.fields.map((field) =>
    [
      field.key,
      field.type,
      field.label_en,
      field.label_de,
      inBoth(language, purposeIn('en', field), field.description_de),
    ].map((cell) => said`${cell}`),
  );
  return {
    title: language === 'de' ? said`${de} / ${en}` : said`${en} / ${de}`,
    isPart: true,
    blocks: [
      {
        facts: givenFacts([
          [words.key, said`${activity.category}`],
          [texts.purpose, purposes === '' ? own(words.notDeclared) : said`${purposes}`],
          [texts.legalBasis, own(basisIn(language, activity.legal_basis))],
          [texts.withoutConsent, activity.requires_consent === false ? said`${reason}` : undefined],
          [words.erased, own(days === null ? words.noPeriod : words.afterUpdate(days))],
        ]),
      },
      rows.length === 0 ? { text: own(texts.anyValues) } : { table: { columns: words.columns, rows } },
    ],
  };
}

export function noActivity(language: DocumentLanguage): Section {
  const { noActivity: title } = TEXTS[language].record;
  return { title: own(title), isPart: true, blocks: [] };
}

/** What is missing, as tasks for the team, and what this service cannot know. */
export function gapsSection(language: DocumentLanguage, gaps: DeclarationGaps): Section {
  const { gapsTitle, noGaps, checks, moreGaps } = TEXTS[language].record;
  const found = gaps.end().map(({ task }) => task);
  const more = gaps.isMore ? [own(moreGaps)] : [];
  const block: Block = found.length === 0 ? { text: own(noGaps) } : { items: [...found, ...more] };
  return section(gapsTitle, block, { text: own(checks) });
}

/** A text in English, and in German where it was declared so; that of the document comes first. */
function inBoth(language: DocumentLanguage, text: string | null, german?: string): string {
  const both = [text ?? '', german ?? ''];
  if (language === 'de') both.reverse();
  return [...new Set(both)].filter((one) => one !== '').join(' / ');
}
