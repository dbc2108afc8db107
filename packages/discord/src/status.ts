import { NotFoundError } from '@lethe/sdk';
import { type Category, needsConsent } from './facts';
import { PATIENT } from './patient';
import { type Refusals, refusalLines } from './refusals';
import { cut, LIMITS, type Reply, reply } from './reply';
import { labelShown, shownFor } from './shown';
import type { Texts } from './texts';
import { isNamed, ownStores, shownPage, type Turn, when } from './turn';
import { withoutConsent } from './without-consent';

export type ConsentStatus = Awaited<ReturnType<Turn['lethe']['consents']['status']>>;

/**
 * The state of each category that the consent can be about. A consent without categories is one to all that need one; a category
 * that needs none any more has a state only in a consent that names it.
 */
export function statesOf(
  status: ConsentStatus,
  categories: readonly Category[],
): Map<string, ConsentStatus['status']> {
  const named = new Map(status.categories?.map((one) => [one.key, one.status]));
  const otherwise = status.categories === undefined ? status.status : 'none';
  return new Map(
    categories
      .filter((category) => named.has(category.key) || needsConsent(category))
      .map(({ key }) => [key, named.get(key) ?? otherwise]),
  );
}

/** What the user has decided, for each category. */
export async function status(turn: Turn, at = 0): Promise<Reply> {
  const { asked, facts, lethe, who, words } = turn;
  const { say } = words;
  const [found, categories, refused, hasOwnStores] = await Promise.all([
    lethe.consents.status(who, PATIENT),
    facts.categories(),
    lethe.data.refusals(who, PATIENT).catch(unlessOlder),
    facts.hasOwnStores(),
  ]);
  const { version, accepted_at, revoked_at, declined_at: declinedAt, data_erased_at: erasedAt } = found;
  const refusal = found.status === 'accepted' ? 'status_declined_newer' : 'status_declined';
  // An older service does not answer it.
  const declined = declinedAt == null ? undefined : say(refusal, { when: when(declinedAt) });
  const without = withoutConsent(turn, categories);
  const isAsked = categories.some(needsConsent) || without.length === 0;
  // Where something needs no consent, or is stored elsewhere, it is not true that nothing is stored.
  const some = without.length === 0 ? '' : '_some';
  const suffix = hasOwnStores === false ? some : '_own_stores';
  const noneKey: keyof Texts = isAsked ? `status_none${suffix}` : 'consent_not_needed';
  const head = {
    none: () => declined ?? say(noneKey),
    pending: () => say(`status_pending${suffix}`),
    accepted: () => {
      const key = isNamed(version ?? '') ? 'status_accepted_version' : 'status_accepted';
      return say(key, { version: version ?? '', when: when(accepted_at) });
    },
    revoked: () => say(`status_revoked${suffix}`, { when: when(revoked_at) }),
  }[found.status]();
  const states = statesOf(found, categories);
  const isAny = (...wanted: ConsentStatus['status'][]) =>
    [...states.values()].some((state) => wanted.includes(state));
  const [asking, decided] = await Promise.all([
    isAny('pending') ? shownFor(turn, 'asked') : [],
    isAny('accepted', 'revoked') ? shownFor(turn, 'decided') : [],
  ]);
  const lines = categories.flatMap((category) => {
    const state = states.get(category.key);
    if (state === undefined) return [];
    const shown = state === 'pending' ? asking : decided;
    const label = cut(labelShown(shown, category, asked.locale), LIMITS.label);
    return [`• ${label}: ${say(`state_${state}`)}`];
  });
  const refusals = refusalLines(turn, refused, categories);
  const parts = [
    head,
    ...(found.status === 'none' || lines.length === 0 ? [] : [lines.join('\n')]),
    ...(declined === undefined || found.status === 'none' ? [] : [declined]),
    ...(found.pending_version === undefined ? [] : [say('status_newer')]),
    ...(erasedAt === undefined ? [] : [say('status_erased_at', { when: when(erasedAt) })]),
    ...without,
    ...ownStores(turn, hasOwnStores),
    ...(refusals.length === 0 ? [] : [refusals.join('\n')]),
  ];
  const { embed, navigation } = shownPage(turn, { text: parts.join('\n\n'), at, view: 'status' });
  return reply({ embeds: [{ title: say('status_title'), ...embed }], components: navigation });
}

/** A service of an older version knows of no objections and restrictions. */
function unlessOlder(error: unknown): Refusals {
  if (error instanceof NotFoundError) return { objections: [], restrictions: [] };
  throw error;
}
