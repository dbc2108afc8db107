import { InsufficientScopeError, NotFoundError, type Schemas } from '@lethe/sdk';
import { ACTS, customId } from './custom-id';
import type { Category } from './facts';
import { nameOf } from './menus';
import { PATIENT } from './patient';
import { button, type Reply, reply, row } from './reply';
import { ownStores, shownPage, type Turn, when, whomToAsk } from './turn';

export type Refusals = Pick<Schemas['RefusalsView'], 'objections' | 'restrictions'>;
type Refusal = Refusals['objections'][number];

/** The legal bases that a user can object to (GDPR Art. 21(1)). */
const OBJECTABLE: readonly string[] = ['legitimate_interests', 'public_task'];

/** What the user has objected to and restricted, and the ways to more. */
export async function refusals(turn: Turn, at = 0): Promise<Reply> {
  try {
    return await view(turn, await turn.lethe.data.refusals(turn.who, PATIENT), { at });
  } catch (error) {
    return impossible(turn, error);
  }
}

/** The same after an act. */
export async function view(
  turn: Turn,
  found: Refusals,
  { at = 0, notes = [] }: { readonly at?: number; readonly notes?: readonly string[] },
): Promise<Reply> {
  const { facts, words } = turn;
  const { say } = words;
  const [categories, hasOwnStores] = await Promise.all([facts.categories(), facts.hasOwnStores()]);
  const lines = refusalLines(turn, found, categories);
  const isOpen = objectableOf(found, categories).length > 0;
  const parts = [
    lines.length === 0 ? say('refusals_none') : lines.join('\n'),
    say('restrict_why'),
    say(isOpen ? 'object_why' : found.objections.length === 0 ? 'object_none' : 'object_no_more'),
    ...ownStores(turn, hasOwnStores, 'refusals_own_stores'),
  ];
  const { embed, navigation } = shownPage(turn, { text: parts.join('\n\n'), at, view: 'refusals' });
  const { restrictions } = found;
  const isWhole = has(restrictions, null);
  const ways = [
    ...(isWhole ? [] : [button('secondary', say('restrict_open'), customId(ACTS.choice, 'restrict'))]),
    ...(restrictions.length === 0
      ? []
      : [button('secondary', say('unrestrict_open'), customId(ACTS.choice, 'unrestrict'))]),
    ...(isOpen ? [button('danger', say('object_open'), customId(ACTS.choice, 'object'))] : []),
  ];
  return reply({
    content: notes.join('\n'),
    embeds: [{ title: say('refusals_title'), ...embed }],
    components: [...(ways.length === 0 ? [] : [row(...ways)]), ...navigation],
  });
}

/** What is in force, one line each; none where the service does not know of it. */
export function refusalLines(
  { asked: { locale }, words: { say } }: Turn,
  { objections, restrictions }: Refusals,
  categories: readonly Category[],
): string[] {
  const line = (
    { category, since }: Refusal,
    key: 'refusals_objected' | 'refusals_restricted',
    all: string,
  ): string =>
    `• ${say(key, { when: when(since), what: category === null ? all : nameOf(categories, category, locale) })}`;
  return [
    ...restrictions.map((one) => line(one, 'refusals_restricted', say('refusals_everything'))),
    ...objections.map((one) => line(one, 'refusals_objected', say('refusals_objectable'))),
  ];
}

/** The categories that the user can still object to. */
export function objectableOf({ objections }: Refusals, categories: readonly Category[]): Category[] {
  if (has(objections, null)) return [];
  return categories.filter(
    ({ key, legal_basis: basis }) => OBJECTABLE.includes(basis) && !has(objections, key),
  );
}

export const has = (of: readonly Refusal[], key: string | null): boolean =>
  of.some(({ category }) => category === key);

/** A key without the scope, or a service of an older version. */
export async function impossible(turn: Turn, error: unknown): Promise<Reply> {
  if (!(error instanceof InsufficientScopeError || error instanceof NotFoundError)) throw error;
  turn.report(error);
  return reply({ content: `${turn.words.say('refusals_missing')} ${await whomToAsk(turn)}` });
}
