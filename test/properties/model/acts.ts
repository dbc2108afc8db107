import fc from '../../support/fast-check';
import type { Json } from '../../support/client';

/** The subject of an act: a user by number, in a guild by number; the last guild is the bot-wide scope. */
export interface Whom {
  readonly user: number;
  readonly guild: number;
}

export const USERS = 2;
export const GUILDS = 3;
/** The guild in which the guide's shapes act. */
export const WIDE = GUILDS - 1;

/** Awkward slugs: a property of every object, one with a wildcard of LIKE, one that sorts first. */
export const CATEGORIES = ['profile', '__proto__', 'pro_ile', 'a', 'open'] as const;
/** The one of them that needs no consent, unless it is declared in the guide's shape. */
export const OPEN = 'open';

export interface Pages {
  readonly page: number;
  readonly page_size: number;
}

export type Act =
  | {
      readonly do: 'request';
      readonly whom: Whom;
      readonly version: string;
      readonly categories: readonly string[] | null;
    }
  | {
      readonly do: 'accept';
      readonly whom: Whom;
      readonly version: string;
      readonly categories: readonly string[] | null;
    }
  | { readonly do: 'revoke'; readonly whom: Whom; readonly categories: readonly string[] | null }
  | { readonly do: 'forget' | 'status'; readonly whom: Whom }
  | { readonly do: 'export'; readonly whom: Whom; readonly full: boolean }
  | {
      readonly do: 'submit';
      readonly whom: Whom;
      readonly category: string;
      readonly data: Json;
      readonly merge: boolean;
    }
  | {
      readonly do: 'guide-request';
      readonly user: number;
      readonly categories: readonly string[];
      readonly language: string;
    }
  | { readonly do: 'guide-accept'; readonly nth: number; readonly categories: readonly string[] | null }
  | { readonly do: 'guide-revoke'; readonly user: number; readonly categories: readonly string[] | null }
  | { readonly do: 'guide-status'; readonly user: number }
  | { readonly do: 'guide-submit'; readonly user: number; readonly category: string; readonly data: Json }
  | { readonly do: 'guide-declare'; readonly categories: readonly string[] }
  | { readonly do: 'declare' | 'withdraw' | 'view'; readonly category: string }
  | { readonly do: 'change'; readonly category: string; readonly retention: number | null }
  | { readonly do: 'categories' | 'servers'; readonly pages: Pages }
  | { readonly do: 'server'; readonly guild: number; readonly name: string | null }
  | { readonly do: 'erase-guild'; readonly guild: number }
  | { readonly do: 'forget-status'; readonly nth: number }
  | { readonly do: 'event'; readonly whom: Whom; readonly type: string; readonly details: Json | null }
  | {
      readonly do: 'events';
      readonly user: number | null;
      readonly guild: number | null;
      readonly type: string | null;
      readonly pages: Pages;
    }
  | { readonly do: 'rename'; readonly name: string };

const user = fc.nat({ max: USERS - 1 });
const guild = fc.nat({ max: GUILDS - 1 });
const whom = fc.record({
  user,
  guild: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: guild }),
});
const version = fc.constantFrom('1', '2');
const category = fc.constantFrom(...CATEGORIES);
const some = fc.uniqueArray(category, { minLength: 1, maxLength: 3 });
const someOrAll = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: some },
) as fc.Arbitrary<string[] | null>;
const pages = fc.record({
  page: fc.constantFrom(1, 1, 1, 2, 3, 0),
  page_size: fc.constantFrom(1, 2, 5, 100),
});
const type = fc.constantFrom(
  'consent_requested',
  'consent_accepted',
  'data_submitted',
  'data_deleted',
  'deletion_completed',
);

const json = fc.constantFrom<unknown>(
  ...[null, 1, 'x', [1], {}, { a: 1 }, { a: null }],
  ...[{ a: { b: 1, c: null } }, { a: { b: null, d: 2 } }, -0, 1e21, 0.1, 'ä\u2028😀'],
);
const data = fc.record(
  {
    text: fc.constantFrom<unknown>('x', '😀', null, 1),
    number: fc.constantFrom<unknown>(1, -0, null, 'x'),
    json,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Json>;

const act = <Does extends Act['do'], Rest>(
  does: Does,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
) => fc.record({ do: fc.constant(does), ...rest });

const WEIGHTED = [
  [6, act('request', { whom, version, categories: someOrAll })],
  [6, act('accept', { whom, version, categories: someOrAll })],
  [3, act('revoke', { whom, categories: someOrAll })],
  [2, act('forget', { whom })],
  [2, act('status', { whom })],
  [3, act('export', { whom, full: fc.boolean() })],
  [8, act('submit', { whom, category, data, merge: fc.boolean() })],
  [3, act('guide-request', { user, categories: some, language: fc.constantFrom('de', 'en') })],
  [4, act('guide-accept', { nth: fc.nat({ max: 5 }), categories: someOrAll })],
  [1, act('guide-revoke', { user, categories: someOrAll })],
  [1, act('guide-status', { user })],
  [3, act('guide-submit', { user, category, data })],
  [1, act('guide-declare', { categories: some })],
  [1, act('declare', { category })],
  [1, act('withdraw', { category })],
  [1, act('view', { category })],
  [1, act('change', { category, retention: fc.constantFrom(null, 1, 30) })],
  [1, act('categories', { pages })],
  [1, act('servers', { pages })],
  [2, act('server', { guild, name: fc.constantFrom(null, 'a', 'ß') })],
  [1, act('erase-guild', { guild })],
  [2, act('forget-status', { nth: fc.nat({ max: 3 }) })],
  [2, act('event', { whom, type, details: fc.constantFrom<Json | null>(null, {}, { text: 'ä', n: 1e21 }) })],
  [4, act('events', { user: fc.option(user), guild: fc.option(guild), type: fc.option(type), pages })],
  [1, act('rename', { name: fc.constantFrom('Ann', 'Ζωή 😀') })],
] as const;

/** A random act of the interface; frequent ones are more likely. */
export const anAct: fc.Arbitrary<Act> = fc.oneof(
  ...WEIGHTED.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary as fc.Arbitrary<Act> })),
);

/** The usual first acts, on which most later ones build. */
export const BEGINNING: readonly Act[] = [
  { do: 'declare', category: 'profile' },
  { do: 'declare', category: '__proto__' },
  { do: 'guide-declare', categories: ['pro_ile'] },
  { do: 'declare', category: OPEN },
  { do: 'server', guild: 0, name: null },
  { do: 'request', whom: { user: 0, guild: 0 }, version: '1', categories: null },
  { do: 'accept', whom: { user: 0, guild: 0 }, version: '1', categories: null },
  { do: 'submit', whom: { user: 0, guild: 0 }, category: 'profile', data: { text: 'x' }, merge: false },
];

/** The reads at the end. */
export const ENDING: readonly Act[] = [
  { do: 'categories', pages: { page: 1, page_size: 100 } },
  { do: 'events', user: null, guild: null, type: null, pages: { page: 1, page_size: 100 } },
  ...[
    { user: 0, guild: 0 },
    { user: 0, guild: WIDE },
  ].flatMap((whom): Act[] => [
    { do: 'export', whom, full: true },
    { do: 'events', ...whom, type: null, pages: { page: 1, page_size: 100 } },
  ]),
];
