import type { SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import { answerErased, type Form } from '@app/idempotency';
import { type Subject, subjectOf } from '@app/subjects';
import type { ReceiptFacts } from './consent-receipt';
import { factsInForce } from './consent-receipt.facts';
import type { Asking } from './consent-texts.service';
import type { ConsentRequestedView, ConsentView } from './consent.dto';

/** A request, and what it shows. */
export interface Requested {
  readonly view: ConsentRequestedView;
  readonly asking: Asking;
}

/** A new consent and the facts for its receipt, which a repeat has while the consent is in force unchanged. */
export interface Accepted {
  readonly consent: ConsentView;
  readonly facts: ReceiptFacts | undefined;
}

/**
 * How a request is stored for its repeat: without the texts, which can be long. Where the repeat would show other texts it
 * is a request of its own, so that the history names what was shown.
 */
export function requestedForm(subject: Subject, ask: (tx: Tx) => Promise<Asking>): Form<Requested> {
  const shownBy = ({ version, shown }: Asking): string => JSON.stringify([version, shown]);
  return {
    write: ({ view, asking }) => ({
      text: JSON.stringify([{ ...view, texts: undefined }, shownBy(asking)]),
      subject,
    }),
    read: async ({ text, tx }) => {
      const [left, shown] = JSON.parse(text) as [ConsentRequestedView, string];
      const asking = await ask(tx);
      if (shownBy(asking) !== shown) return undefined;
      return { view: asking.texts === null ? left : { ...left, texts: asking.texts }, asking };
    },
  };
}

/** How an acceptance is stored for its repeat: without ids, which are read with the key, and without its receipt. */
export function acceptedForm(keys: SubjectKeys): Form<Accepted> {
  return {
    write: ({ consent, facts }) => ({
      text: JSON.stringify({ ...consent, user_id: null, guild_id: null }),
      ...(facts !== undefined && { subject: subjectOf(facts.consent) }),
    }),
    read: async ({ text, tx, subject }) => {
      const ids = subject && (await keys.inForce(tx, subject))?.ids;
      if (subject === undefined || ids === undefined) throw answerErased();
      const { user_id, guild_id } = ids;
      const consent = Object.assign(JSON.parse(text) as ConsentView, { user_id, guild_id });
      const facts = await factsInForce(tx, { ...subject, ids });
      const isSame = facts?.consent.id === consent.id && facts.consent.acceptedAt === consent.accepted_at;
      return { consent, facts: isSame ? facts : undefined };
    },
  };
}
