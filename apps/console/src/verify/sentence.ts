import type { Finding } from './examine';
import { reasonIn } from './reasons';
import { type Language, VERIFY_TEXTS } from './texts';

type Fields = Readonly<Record<string, unknown>>;

/** What a check has found, in one sentence. */
export function sentenceOf(language: Language, finding: Finding): string {
  const texts = VERIFY_TEXTS[language];
  if (finding.result === 'unclear') return `${texts.unclear} ${texts.unclears[finding.why]}`;
  if (finding.result === 'fails') return `${texts.fails} ${reasonIn(language, finding.reason)}`;
  const { kind, statement, event, isNamed } = finding;
  const time = (text: unknown) => timeIn(language, text);
  const bot = String(statement['bot_id']);
  const values: Record<string, string> = { bot };
  if (kind === 'certificate') {
    const categories = statement['deleted_categories'] as readonly unknown[];
    const what = categories.join(', ') || texts.none;
    Object.assign(values, { time: time(statement['completed_at']), what });
  } else if (kind === 'receipt') Object.assign(values, receiptOf(language, statement));
  else
    Object.assign(values, {
      sealed: time(statement['sealed_at']),
      time: time(event?.created_at),
      what: String(event?.event_type),
    });
  const pattern = kind === 'certificate' && isNamed ? texts.certificateNamed : texts[kind];
  return `${texts.holds} ${pattern.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '–')}`;
}

function receiptOf(language: Language, statement: Fields): Record<string, string> {
  const processing = objectOf(statement['pii_processing']);
  const service = objectOf(processing['service']);
  const purposes = Array.isArray(processing['purposes']) ? processing['purposes'].map(objectOf) : [];
  const names = purposes.map((purpose) =>
    String(objectOf(purpose['purpose_label'])[language] ?? purpose['purpose']),
  );
  return {
    time: timeIn(language, objectOf(statement['event'])['event_time']),
    user: String(statement['pii_principal_id']),
    guild: String(service['guild_id']),
    bot: String(service['bot_id']),
    what: names.join(', ') || VERIFY_TEXTS[language].none,
  };
}

const objectOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

function timeIn(language: Language, text: unknown): string {
  const at = new Date(String(text));
  if (Number.isNaN(at.getTime())) return String(text);
  const form = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat(language === 'de' ? 'de' : 'en-GB', form).format(at)} UTC`;
}
