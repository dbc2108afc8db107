import { NotFoundError } from '@lethe/sdk';
import { type Refusals, refusalLines } from './refusals';
import { cut, LIMITS, type Reply, reply } from './reply';
import { labelShown, shownFor } from './shown';
import { isNamed, shownPage, type Turn, when } from './turn';

export type ConsentStatus = Awaited<ReturnType<Turn['lethe']['consents']['status']>>;

/** The state of each category. A consent without categories is one to all. */
export function statesOf(
  status: ConsentStatus,
  keys: readonly string[],
): Map<string, ConsentStatus['status']> {
  const named = new Map(status.categories?.map((one) => [one.key, one.status]));
  return new Map(
    keys.map((key) => [key, status.categories === undefined ? status.status : (named.get(key) ?? 'none')]),
  );
}

/** What the user has decided, for each category. */
export async function status(turn: Turn, at = 0): Promise<Reply> {
  const { asked, facts, lethe, who, words } = turn;
  const { say } = words;
  const [found, categories, refused] = await Promise.all([
    lethe.consents.status(who),
    facts.categories(),
    lethe.data.refusals(who).catch(unlessOlder),
  ]);
  const { version, accepted_at, revoked_at, declined_at: declinedAt, data_erased_at: erasedAt } = found;
  const refusal = found.status === 'accepted' ? 'status_declined_newer' : 'status_declined';
  // An older service does not answer it.
  const declined = declinedAt == null ? undefined : say(refusal, { when: when(declinedAt) });
  const head = {
    none: () => declined ?? say('status_none'),
    pending: () => say('status_pending'),
    accepted: () => {
      const key = isNamed(version ?? '') ? 'status_accepted_version' : 'status_accepted';
      return say(key, { version: version ?? '', when: when(accepted_at) });
    },
    revoked: () => say('status_revoked', { when: when(revoked_at) }),
  }[found.status]();
  const states = statesOf(
    found,
    categories.map(({ key }) => key),
  );
  const isAny = (...wanted: ConsentStatus['status'][]) =>
    [...states.values()].some((state) => wanted.includes(state));
  const [asking, decided] = await Promise.all([
    isAny('pending') ? shownFor(turn, 'asked') : [],
    isAny('accepted', 'revoked') ? shownFor(turn, 'decided') : [],
  ]);
  const lines = categories.map((category) => {
    const state = states.get(category.key) ?? 'none';
    const shown = state === 'pending' ? asking : decided;
    const label = cut(labelShown(shown, category, asked.locale), LIMITS.label);
    return `• ${label}: ${say(`state_${state}`)}`;
  });
  const refusals = refusalLines(turn, refused, categories);
  const parts = [
    head,
    ...(found.status === 'none' ? [] : [lines.join('\n')]),
    ...(declined === undefined || found.status === 'none' ? [] : [declined]),
    ...(found.pending_version === undefined ? [] : [say('status_newer')]),
    ...(erasedAt === undefined ? [] : [say('status_erased_at', { when: when(erasedAt) })]),
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
