import { type Category, isObjectable, purposeIn } from '@app/categories';
import { erasureDays } from '@app/crypto';
import type { Config } from '@app/kernel';
import { declaredIn, givenFacts, type NamedFact, recipientIn } from '@app/pages';
import { automatedIn, contactOf, type Declared, isWithoutTransfers, transfersIn } from './declared-facts';
import { basisIn, type DocumentLanguage, TEXTS, timeIn } from './documents.texts';
import { type Block, type Head, mailTo, own, type Said, said, section, type Section, stated } from './said';

/** Periods of the installation that a notice names. */
export type Periods = Pick<
  Config,
  'revokedDataGraceDays' | 'evidenceRetentionDays' | 'webhookRetentionDays' | 'backupRetentionDays'
>;

/** What a notice is made of. Nothing in it is about a user. */
export interface NoticeFacts {
  readonly declared: Declared;
  readonly categories: readonly Category[];
  /** Whether there are further categories, which have no room. */
  readonly isCut: boolean;
  readonly periods: Periods;
  readonly digest: string;
  /** When the bot last changed what is said. Other periods of the installation change the digest, and not this time. */
  readonly changedAt: string;
}

/** Where the same notice is in a language, up to its tag. */
export const IN_LANGUAGE = '?language=';

export function noticeHead(language: DocumentLanguage, { declared }: NoticeFacts): Head {
  const { notice } = TEXTS[language];
  const title = said`${own(notice.title)}: ${declared.bot.name}`;
  return { language, title, lead: own(notice.lead), address: IN_LANGUAGE };
}

/**
 * The notice for the public: what is not declared is left out, but for the contact and a purpose, of which it says that the bot
 * names none. No task of the team is shown.
 */
export function noticeSections(language: DocumentLanguage, facts: NoticeFacts): Section[] {
  const texts = TEXTS[language];
  const words = texts.notice;
  const { declared, categories, isCut, digest, changedAt } = facts;
  const more = contactOf(declared) === null ? words.moreData : `${words.moreData} ${words.moreDataNamed}`;
  const { interests, source } = declaredIn(language, declared.settings);
  return [
    section(texts.title, { facts: controllerFacts(language, declared) }),
    section(words.dataTitle, ...(categories.length === 0 && !isCut ? [{ text: own(words.noData) }] : [])),
    ...categories.map((category) => categorySection(language, facts, category)),
    ...(isCut ? [{ title: own(more), isPart: true, blocks: [] }] : []),
    ...stated(texts.interests, interests),
    ...stated(texts.source, source),
    section(words.recipientsTitle, { items: recipients(language, declared) }),
    ...transferSections(language, declared),
    ...stated(texts.automated, automatedIn(language, declared)),
    section(words.limitsTitle, { items: periodsIn(language, facts) }),
    ...objection(language, facts),
    section(words.rightsTitle, ...rights(language, declared)),
    section(
      words.version,
      {
        facts: [
          [words.changed, own(timeIn(language, changedAt))],
          [words.digest, own(digest)],
        ],
      },
      { text: own(words.digestWhy) },
    ),
  ];
}

function controllerFacts(language: DocumentLanguage, declared: Declared): NamedFact[] {
  const texts = TEXTS[language];
  const { name, address, officer, policy } = declaredIn(language, declared.settings);
  return givenFacts([
    [texts.name, name],
    [texts.address, address],
    [texts.contact, mailTo(contactOf(declared)) ?? own(texts.noContact)],
    [texts.officer, officer],
    [texts.policy, policy],
  ]);
}

function categorySection(language: DocumentLanguage, { periods }: NoticeFacts, category: Category): Section {
  const texts = TEXTS[language];
  const words = texts.notice;
  const { labelDe, labelEn, description, purposes, legalBasis, fields } = category;
  const { withoutConsent: reasons, retentionDays: days } = category;
  const purpose = purposeIn(language, { description, ...purposes });
  const items = fields.map((field) => {
    const label = language === 'de' ? field.label_de : field.label_en;
    const meaning = purposeIn(language, field);
    return meaning === null || meaning === '' ? said`${label}` : said`${label}: ${meaning}`;
  });
  const { revokedDataGraceDays: grace } = periods;
  const isErasedOnceWithdrawn = legalBasis === 'consent' && grace !== undefined;
  const until = isErasedOnceWithdrawn ? words.keptUntilWithdrawn(grace) : words.keptUntilErased;
  const kept = days === null ? until : words.keptDays(days);
  return {
    title: said`${language === 'de' ? labelDe : labelEn}`,
    isPart: true,
    blocks: [
      {
        facts: givenFacts([
          [texts.purpose, purpose === null || purpose === '' ? own(words.noPurpose) : said`${purpose}`],
          [texts.legalBasis, own(basisIn(language, legalBasis))],
          [texts.withoutConsent, reasons === null ? undefined : said`${reasons[`reason_${language}`]}`],
          [words.kept, own(kept)],
        ]),
      },
      ...(items.length === 0 ? [] : [{ items }]),
    ],
  };
}

function recipients(language: DocumentLanguage, { settings }: Declared): Said[] {
  const { operator } = TEXTS[language].notice;
  return [own(operator), ...(settings.recipients ?? []).map((one) => recipientIn(language, one))];
}

function transferSections(language: DocumentLanguage, declared: Declared): Section[] {
  const { transfers, notice } = TEXTS[language];
  const items = transfersIn(language, declared);
  if (items.length > 0) return [section(transfers, { items })];
  return isWithoutTransfers(declared) ? stated(transfers, own(notice.noTransfers)) : [];
}

function periodsIn(language: DocumentLanguage, { periods }: NoticeFacts): Said[] {
  const words = TEXTS[language].notice;
  const {
    revokedDataGraceDays: grace,
    evidenceRetentionDays: evidence,
    webhookRetentionDays: calls,
    backupRetentionDays: backups,
  } = periods;
  return [
    own(grace === undefined ? words.notWithdrawn : words.withdrawn(grace)),
    own(words.evidence(evidence, erasureDays(periods))),
    own(words.webhooks(calls)),
    own(words.ids),
    ...(backups === 0 ? [] : [own(words.backups(backups))]),
  ];
}

/** The right to object, apart from any other information (Art. 21(4)), where a category can be objected to. */
function objection(language: DocumentLanguage, { declared, categories }: NoticeFacts): Section[] {
  const { objectTitle, object, write } = TEXTS[language].notice;
  const how = contactOf(declared) === null ? '' : ` ${write}`;
  const items = categories
    .filter(({ legalBasis }) => isObjectable(legalBasis))
    .map(({ labelDe, labelEn }) => said`${language === 'de' ? labelDe : labelEn}`);
  return items.length === 0 ? [] : [section(objectTitle, { text: own(`${object}${how}`) }, { items })];
}

function rights(language: DocumentLanguage, declared: Declared): Block[] {
  const words = TEXTS[language].notice;
  const { authority } = declaredIn(language, declared.settings);
  const here = authority === undefined ? [] : [said`${own(words.authorityHere)}: ${authority}`];
  const contact = contactOf(declared) === null ? [] : [words.write];
  return [{ items: [...[...words.rights, ...contact, words.page, words.complaint].map(own), ...here] }];
}
