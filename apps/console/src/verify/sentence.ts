import { actsOf, type AuditAct, BOT_WIDE_GUILD_ID, type HolderAnswer } from '@lethe/sdk/evidence/web';
import type { Finding, Names, SealedEvent } from './examine';
import { reasonIn } from './reasons';
import { type Language, VERIFY_TEXTS } from './texts';

/** Characters of a name that no signature covers. */
const NAME_LENGTH_MAX = 100;

type Fields = Readonly<Record<string, unknown>>;

/** What a check has found, in one sentence. */
export function sentenceOf(language: Language, finding: Finding): string {
  const texts = VERIFY_TEXTS[language];
  if (finding.result === 'unclear') return `${texts.unclear} ${texts.unclears[finding.why]}`;
  if (finding.result === 'fails') return `${texts.fails} ${reasonIn(language, finding.reason)}`;
  const { kind, isNamed } = finding;
  const time = (text: unknown) => timeIn(language, text);
  const certificate = certificateOf(finding);
  const pattern = certificate !== undefined && isNamed ? texts.certificateNamed : texts[kind];
  const values: Record<string, string> = { bot: String(finding.statement['bot_id']) };
  if (certificate !== undefined) {
    const categories = certificate['deleted_categories'] as readonly unknown[];
    const what = categories.join(', ') || texts.none;
    Object.assign(values, { time: time(certificate['completed_at']), what });
  } else if (kind === 'receipt') Object.assign(values, receiptOf(language, finding.statement));
  else if (kind === 'proof')
    Object.assign(values, {
      sealed: time(finding.statement['sealed_at']),
      ...eventOf(language, finding.event),
    });
  return `${texts.holds} ${filled(pattern, values)}`;
}

/** What the signature covers; of a proof the event, by its hashes, and the checkpoint. */
export function signedIn(finding: Finding & { readonly result: 'holds' }): object {
  const { statement } = finding;
  return finding.kind === 'proof' ? { event: finding.event, checkpoint: statement } : statement;
}

/** What each holder of the bot has answered, in one sentence, and who says so. */
export function holderSentences(language: Language, finding: Finding): readonly string[] {
  if (finding.result !== 'holds' || finding.kind !== 'final') return [];
  const texts = VERIFY_TEXTS[language].holders;
  return finding.statement.holders.map((holder) => {
    const { kept, signed_at: signedAt } = holder;
    const values = {
      name: nameOf(language, holder),
      covers: holder.covers.map((text) => quoted(language, text)).join(', '),
      time: timeIn(language, signedAt ?? holder.answered_at),
      until: timeIn(language, kept?.until),
      basis: quoted(language, kept?.basis ?? ''),
    };
    return filled(`${texts[holder.result]} ${signedAt === null ? texts.received : texts.signed}`, values);
  });
}

/** The label is a text of the bot, and must not read as a sentence about another holder. */
function nameOf(language: Language, holder: HolderAnswer): string {
  return `${holder.key} (${quoted(language, language === 'de' ? holder.label_de : holder.label_en)})`;
}

/** A text of somebody else, which cannot end its quotation or turn the line around. */
function quoted(language: Language, text: string): string {
  const inner = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ').replace(/["“”„‟«»]/g, "'");
  return language === 'de' ? `„${inner}“` : `“${inner}”`;
}

/** Who wrote an event, about whom, and what it says was done. */
function eventOf(language: Language, event: SealedEvent): Record<string, string> {
  const { acts, or, events } = VERIFY_TEXTS[language];
  const [user, guild] = [event.parts?.user?.value, event.parts?.guild?.value];
  const words = actsOf(event).map((act) => (Object.hasOwn(acts, act) ? acts[act as AuditAct] : act));
  return {
    time: timeIn(language, event.created_at),
    author: event.source === 'service' ? events.byService : events.byBot,
    what: words.join(or),
    subject: user
      ? filled(events.about, { user, place: placeOf(language, guild ?? '–') })
      : events.aboutUnnamed,
  };
}

function placeOf(language: Language, guild: string): string {
  const { onServer, directly } = VERIFY_TEXTS[language];
  return guild === BOT_WIDE_GUILD_ID ? directly : `${onServer} ${guild}`;
}

/** The certificate of the erasure in Lethe; undefined for what is about no erasure. */
function certificateOf(finding: Finding & { readonly result: 'holds' }): Fields | undefined {
  if (finding.kind === 'final') return finding.statement.certificate;
  return finding.kind === 'certificate' ? finding.statement : undefined;
}

const filled = (pattern: string, values: Readonly<Record<string, string>>): string =>
  pattern.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '–');

/** The names that a file gives to what its certificate is about, said apart: only the keys are signed. */
export function unsignedNames(
  language: Language,
  finding: Finding,
  names: Names | undefined,
): string | undefined {
  const certificate = finding.result === 'holds' ? certificateOf(finding) : undefined;
  if (names === undefined || certificate === undefined) return undefined;
  const keys = (certificate['deleted_categories'] as readonly unknown[]).map(String);
  const labels = keys.flatMap((key) => {
    const label = names.categories.get(key)?.[language];
    return typeof label === 'string' ? [`${key} – ${label.slice(0, NAME_LENGTH_MAX)}`] : [];
  });
  const bot = `${VERIFY_TEXTS[language].bot} – ${names.bot.slice(0, NAME_LENGTH_MAX)}`;
  return `${VERIFY_TEXTS[language].unsigned} ${[bot, ...labels].join('; ')}.`;
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
    place: placeOf(language, String(service['guild_id'])),
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
