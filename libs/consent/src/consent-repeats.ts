import type { Tx } from '@app/database';
import type { EncryptedForms, Form } from '@app/idempotency';
import { OwnError } from '@app/kernel';
import type { Digest } from '@app/primitives';
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
export function requestedForm(
  forms: EncryptedForms,
  subject: Subject,
  ask: (tx: Tx) => Promise<Asking>,
): Form<Requested> {
  const shownBy = ({ version, shown }: Asking): string => JSON.stringify([version, shown]);
  const stored = forms.ofSubject<readonly [view: ConsentRequestedView, shown: string]>(subject);
  return {
    write: ({ view, asking }, claim, tx) =>
      stored.write([{ ...view, texts: undefined }, shownBy(asking)], claim, tx),
    read: async (found) => {
      const [left, shown] = (await stored.read(found)) ?? [];
      const asking = await ask(found.tx);
      if (left === undefined || shownBy(asking) !== shown) return undefined;
      return { view: asking.texts === null ? left : { ...left, texts: asking.texts }, asking };
    },
  };
}

/** An answer about a subject that its request need not name. */
export interface Found<Answer> {
  readonly subject: Subject;
  readonly answer: Answer;
}

/**
 * How an answer about a found subject is stored for its repeat: with the digests of the ids of the subject, encrypted with
 * the key of the installation.
 */
export function foundForm<Answer>(forms: EncryptedForms): Form<Found<Answer>> {
  const stored = forms.ofInstallation<readonly [guildId: Digest, userId: Digest, answer: string]>();
  return {
    write: async ({ subject, answer }, claim, tx) => {
      const inner = await forms.ofSubject<Answer>(subject).write(answer, claim, tx);
      return stored.write([subject.guildId, subject.userId, inner], claim, tx);
    },
    read: async (found) => {
      const [guildId, userId, text] = (await stored.read(found)) ?? [];
      if (guildId === undefined || userId === undefined || text === undefined) return undefined;
      const subject = { botId: found.claim.botId, guildId, userId };
      const answer = await forms.ofSubject<Answer>(subject).read({ ...found, text });
      return answer && { subject, answer };
    },
  };
}

/** How an acceptance is stored for its repeat: without its receipt. */
export function acceptedForm(forms: EncryptedForms): Form<Accepted> {
  const stored = foundForm<ConsentView>(forms);
  return {
    write: ({ consent, facts }, claim, tx) => {
      if (facts === undefined) throw new OwnError('A new consent has no facts');
      return stored.write({ subject: subjectOf(facts.consent), answer: consent }, claim, tx);
    },
    read: async (found) => {
      const { subject, answer: consent } = (await stored.read(found)) ?? {};
      if (subject === undefined || consent === undefined) return undefined;
      const { user_id, guild_id } = consent;
      const facts = await factsInForce(found.tx, { ...subject, ids: { user_id, guild_id } });
      const isSame = facts?.consent.id === consent.id && facts.consent.acceptedAt === consent.accepted_at;
      return { consent, facts: isSame ? facts : undefined };
    },
  };
}
