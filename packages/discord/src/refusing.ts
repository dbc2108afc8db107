import { ConflictError, NotFoundError } from '@lethe/sdk';
import { type Act, ACTS, customId } from './custom-id';
import { type Category, labelOf } from './facts';
import { categoryMenus, nameOf } from './menus';
import { PATIENT } from './patient';
import { has, impossible, objectableOf, type Refusals, view } from './refusals';
import { button, type Reply, reply, row } from './reply';
import type { Texts } from './texts';
import { once, type Turn } from './turn';

/** In the place of a category in an id: all of them. */
const ALL = 'all';

/** Shows what can be restricted, objected to, or ended. */
export async function choice(turn: Turn, [what]: readonly string[]): Promise<Reply> {
  const { facts, lethe, who } = turn;
  const [found, categories] = await Promise.all([lethe.data.refusals(who, PATIENT), facts.categories()]);
  const { restrictions } = found;
  if (what === 'restrict')
    return asked(turn, ACTS.restrict, {
      categories: categories.filter(({ key }) => !has(restrictions, key)),
      words: 'restrict',
    });
  if (what === 'object')
    return asked(turn, ACTS.object, { categories: objectableOf(found, categories), words: 'object' });
  return asked(turn, ACTS.unrestrict, {
    categories: categories.filter(({ key }) => has(restrictions, key)),
    words: 'unrestrict',
  });
}

/** The menus of an act, with a button for all. */
function asked(
  turn: Turn,
  act: Act,
  { categories, words }: { categories: readonly Category[]; words: 'restrict' | 'unrestrict' | 'object' },
): Reply {
  const {
    asked: { locale },
    words: { say },
  } = turn;
  const menus = categoryMenus(act, {
    categories,
    placeholder: say(`${words}_choose`),
    label: (category) => labelOf(category, locale),
  });
  const all = button(words === 'object' ? 'danger' : 'primary', say(`${words}_all`), customId(act, ALL));
  return reply({ content: say(`${words}_which`), components: [...menus, row(all)] });
}

/** The category that was selected; undefined for all. */
function chosen({ asked: { act } }: Turn, [place]: readonly string[]): string | undefined {
  if (place === ALL || act.kind !== 'component') return undefined;
  return act.values[0] ?? '';
}

/** Keeps what is stored, and has the bot neither read nor change it (GDPR Art. 18). */
export function restrict(turn: Turn, parts: readonly string[]): Promise<Reply> {
  const given = { ...turn.who, category: chosen(turn, parts) };
  return done(turn, turn.lethe.data.restrict(given, once(turn, 'restrict')), () => ['restrict_done']);
}

/** Ends a restriction, or every one. */
export function unrestrict(turn: Turn, parts: readonly string[]): Promise<Reply> {
  const given = { ...turn.who, category: chosen(turn, parts) };
  return done(turn, turn.lethe.data.unrestrict(given, once(turn, 'unrestrict')), ({ restrictions }) => [
    'unrestrict_done',
    ...(has(restrictions, null) ? (['unrestrict_partly'] as const) : []),
  ]);
}

/** Asks whether the user is sure: an objection erases. The button expires, and names the category by its id. */
export async function sure(turn: Turn, parts: readonly string[]): Promise<Reply> {
  const { asked: of, confirmSeconds, facts, now, words } = turn;
  const { say } = words;
  const key = chosen(turn, parts);
  const categories = await facts.categories();
  const found = categories.find((category) => category.key === key);
  if (key !== undefined && found === undefined) return lost(turn);
  const until = Math.floor(now() / 1000) + confirmSeconds;
  const yes = customId(ACTS.objectNow, until.toString(36), found?.id ?? ALL, of.id);
  const what = key === undefined ? say('refusals_objectable') : nameOf(categories, key, of.locale);
  const lines = [say('object_sure', { what }), say('forget_until', { when: `<t:${until}:t>` })];
  const buttons = row(
    button('danger', say('object_yes'), yes),
    button('secondary', say('forget_no'), customId(ACTS.keep)),
  );
  return reply({ content: lines.join('\n'), components: [buttons] });
}

/** Erases what the objection is about, and has the bot store no more of it (GDPR Art. 21). */
export async function object(turn: Turn, [until = '', id]: readonly string[]): Promise<Reply> {
  const { facts, lethe, now, who, words } = turn;
  // An id that is no time is expired, too.
  if (!(parseInt(until, 36) * 1000 > now())) return reply({ content: words.say('object_expired') });
  // What was read a minute ago does not know that the category was declared anew.
  facts.forget();
  const found = (await facts.categories()).find((category) => category.id === id);
  if (id !== ALL && found === undefined) return lost(turn);
  const given = { ...who, category: found?.key };
  return done(turn, lethe.data.object(given, once(turn, 'object')), () => ['object_done', 'forget_beyond']);
}

async function done(
  turn: Turn,
  act: Promise<Refusals>,
  said: (found: Refusals) => readonly (keyof Texts)[],
): Promise<Reply> {
  try {
    const found = await act;
    return await view(turn, found, { notes: said(found).map((key) => turn.words.say(key)) });
  } catch (error) {
    if (
      error instanceof NotFoundError ||
      (error instanceof ConflictError && error.reason === 'not_objectable')
    )
      return lost(turn);
    return impossible(turn, error);
  }
}

/** The category was removed, or its legal basis changed, since the message was sent. */
function lost({ facts, words }: Turn): Reply {
  facts.forget();
  return reply({ content: words.say('refusals_lost') });
}
