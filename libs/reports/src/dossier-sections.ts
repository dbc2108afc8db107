import { type NamedFact, recipientIn } from '@app/pages';
import type { Declared } from './declared-facts';
import { dayIn, type DocumentLanguage, durationIn, TEXTS, timeIn } from './documents.texts';
import { accessItems, controllerFacts, limitItems, transfers } from './record-sections';
import type { ReviewDossierHead } from './review-dossier.dto';
import { type Block, type Head, linked, own, type Said, section, type Section } from './said';

/** A dossier while its document is made. */
interface DossierMaking {
  readonly language: DocumentLanguage;
  readonly declared: Declared;
  readonly dossier: ReviewDossierHead;
}

export function dossierHead({ language, dossier }: DossierMaking): Head {
  const { title, lead } = TEXTS[language].dossier;
  return { language, title: own(title), lead: own(lead(timeIn(language, dossier.generated_at))) };
}

/** The sections before the categories. */
export function dossierBefore(making: DossierMaking): Section[] {
  const { language, declared, dossier } = making;
  const { dossier: words, record } = TEXTS[language];
  const { privacy_policy: policy } = dossier;
  const facts: NamedFact[] = [
    ...controllerFacts(language, declared),
    [words.registered, own(timeIn(language, dossier.bot.registered_at))],
    [words.policy, policy === null ? own(record.notGiven) : linked(policy, policy)],
  ];
  return [section(words.bot, { facts }), section(words.stored, { text: own(dossier.data_subjects) })];
}

/** The sections after the categories. */
export function dossierAfter(making: DossierMaking): Section[] {
  const { language, declared, dossier } = making;
  const texts = TEXTS[language];
  const { dossier: words, record } = texts;
  const { encryption, backups } = dossier;
  // Of backups their own section says it.
  const limits = dossier.time_limits.filter(({ applies_to: what }) => what !== record.limits.backups);
  const named = (declared.settings.recipients ?? []).map((one) => recipientIn(language, one));
  return [
    section(words.limits, { items: limitItems(language, limits) }),
    section(words.backups, items(backups.statements)),
    section(
      words.encryption,
      {
        facts: [
          [words.algorithm, own(encryption.algorithm)],
          [words.custody, own(words.master[encryption.master_key])],
        ],
      },
      items(encryption.statements),
    ),
    section(words.access, { items: accessItems(dossier.access) }),
    deletionSection(making),
    consentSection(making),
    section(words.measures, items(dossier.security_measures)),
    section(words.recipients, named.length === 0 ? { text: own(words.noRecipients) } : { items: named }),
    section(texts.transfers, transfers(language, declared)),
    section(words.toAdd, { text: own(words.toAddWhy) }, items(dossier.to_add)),
  ];
}

function deletionSection({ language, dossier: { deletion } }: DossierMaking): Section {
  const { dossier: words } = TEXTS[language];
  const duration = (ms: number | null): Said => own(ms === null ? words.noErasure : durationIn(language, ms));
  const facts: NamedFact[] = [
    [words.period, period(language, deletion)],
    [words.requested, number(deletion.requested)],
    [words.completed, number(deletion.completed)],
    [words.failed, number(deletion.failed)],
    [words.median, duration(deletion.median_ms)],
    [words.longest, duration(deletion.longest_ms)],
  ];
  return section(words.deletion, items(deletion.statements), { facts });
}

function consentSection({ language, dossier: { consent } }: DossierMaking): Section {
  const { dossier: words } = TEXTS[language];
  const facts: NamedFact[] = [
    [words.period, period(language, consent)],
    [words.asked, number(consent.requested)],
    [words.accepted, number(consent.accepted)],
    [words.revoked, number(consent.revoked)],
  ];
  return section(words.consent, items(consent.statements), { facts });
}

const number = (count: number): Said => own(String(count));
const items = (sentences: readonly string[]): Block => ({ items: sentences.map(own) });

function period(
  language: DocumentLanguage,
  { from, to }: { readonly from: string; readonly to: string },
): Said {
  const { periodOf } = TEXTS[language].dossier;
  return own(periodOf(dayIn(language, from), dayIn(language, to)));
}
