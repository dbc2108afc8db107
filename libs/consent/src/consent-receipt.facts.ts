import { findBot } from '@app/bots';
import { countCategories, type DeclaredPurpose, declaredPurposes } from '@app/categories';
import type { Tx } from '@app/database';
import { ERASED_IDS, type NamedSubject } from '@app/subjects';
import { latestOf } from './consent-history';
import type { Consent, ShownText } from './consent.entity';
import type { Decided } from './consent-transitions';
import { PURPOSES_LENGTH_MAX, PURPOSES_MAX, type ReceiptFacts } from './consent-receipt';
import type { ConsentNotice } from './consent-texts';
import { findConsent } from './consent.sql';

/** What the receipts of a unit have in common is read once in it. */
const READ = {};

const NOT_DECIDED: Decided = { entry: undefined, ids: ERASED_IDS };

function once<T>(tx: Tx, name: string, read: () => Promise<T>): Promise<T> {
  const known = tx.kept(READ, () => new Map<string, Promise<unknown>>());
  const reading = (known.get(name) as Promise<T> | undefined) ?? read();
  known.set(name, reading);
  return reading;
}

/**
 * Reads the facts that a receipt of a consent in force states. In the unit that accepts, `decision` is written at the
 * same time, and the other reads do not wait for it.
 */
export async function receiptFacts(
  tx: Tx,
  consent: Omit<Consent, 'bot'>,
  decision: Promise<Decided | undefined>,
): Promise<ReceiptFacts> {
  const { botId, categories } = consent;
  const granted = categories && Object.keys(categories).filter((key) => categories[key] === 'accepted');
  const [{ entry, ids } = NOT_DECIDED, bot, found] = await Promise.all([
    decision,
    once(tx, `bot ${botId}`, () => findBot(tx, botId)),
    once(tx, `purposes ${botId} ${JSON.stringify(granted)}`, () =>
      declaredPurposes(tx, botId, granted, PURPOSES_MAX + 1),
    ),
  ]);
  const notice = await noticeOf(tx, consent, entry?.texts?.[0]);
  return {
    consent,
    ids,
    decision: entry,
    notice,
    bot: { id: botId, name: bot?.name ?? '', contact: bot?.privacy_contact ?? null },
    purposes: fitting(found, JSON.stringify(notice).length),
    purposesInAll:
      found.length > PURPOSES_MAX
        ? await once(tx, `count ${botId}`, () => countCategories(tx, botId))
        : found.length,
  };
}

/** {@link receiptFacts} of the present consent; undefined unless one is in force. */
export async function factsInForce(tx: Tx, subject: NamedSubject): Promise<ReceiptFacts | undefined> {
  const consent = await findConsent(tx, subject);
  if (consent?.status !== 'accepted' || consent.erasing !== 0) return undefined;
  const decided = latestOf(tx, consent, consent.id).then((entry) => ({ entry, ids: subject.ids }));
  return receiptFacts(tx, consent, decided);
}

/** The notice of the text that was shown; undefined for a text that was not registered. */
async function noticeOf(
  tx: Tx,
  { botId, version }: Pick<Consent, 'botId' | 'version'>,
  shown: ShownText | undefined,
): Promise<ConsentNotice | null> {
  if (shown === undefined) return null;
  const text = [botId, version, shown.language];
  const found = await once(tx, `text ${JSON.stringify(text)}`, () =>
    tx.get<{ digest: string; notice: string | null }>(
      'SELECT digest, notice FROM consent_texts WHERE bot_id = ? AND consent_version = ? AND language = ?',
      ...text,
    ),
  );
  if (found?.digest !== shown.digest || found.notice === null) return null;
  return JSON.parse(found.notice) as ConsentNotice;
}

/** As many purposes as a receipt lists, which repeats the notice for each. */
function fitting(found: readonly DeclaredPurpose[], noticeLength: number): DeclaredPurpose[] {
  let length = 0;
  return found
    .slice(0, PURPOSES_MAX)
    .filter(({ labelDe, labelEn, labels, description, purposes, fields }) => {
      length +=
        JSON.stringify(labels ?? '').length + (purposes === null ? 0 : JSON.stringify(purposes).length);
      length += labelDe.length + labelEn.length + (description?.length ?? 0) + fields.length + noticeLength;
      return length <= PURPOSES_LENGTH_MAX;
    });
}
