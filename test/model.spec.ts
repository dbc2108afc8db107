import fc from 'fast-check';
import { type Bot, field } from './support/bot';
import type { Answer, Json } from './support/client';
import { useService } from './support/service';
import { snowflake, type SubjectIds } from './support/snowflakes';

// The contract as a few maps in memory: whatever is done to both, model and service answer the same.

const service = useService();

const CATEGORIES = ['profile', '__proto__'] as const;
const VERSIONS = ['1', '2', '3'] as const;
const USERS = 2;

type Act =
  | { readonly do: 'request' | 'accept'; readonly user: number; readonly version: string }
  | { readonly do: 'revoke' | 'forget' | 'export' | 'status'; readonly user: number }
  | {
      readonly do: 'submit';
      readonly user: number;
      readonly category: string;
      readonly data: Json;
      readonly merge: boolean;
    }
  | { readonly do: 'declare' | 'withdraw'; readonly category: string };

interface Person {
  status: string;
  version: string | null;
  pending: string | null;
  readonly data: Map<string, Json>;
  readonly events: string[];
}

/** What is answered, as far as a model can know it. */
type Expected = { readonly status: number; readonly data?: Json };

class Model {
  readonly declared = new Set<string>();
  readonly people: Person[] = Array.from({ length: USERS }, () => ({
    status: 'none',
    version: null,
    pending: null,
    data: new Map<string, Json>(),
    events: [],
  }));

  play(act: Act): Expected {
    if (!('user' in act)) return this.category(act.do, act.category);
    const person = this.people[act.user];
    if (person === undefined) throw new Error('there is no such person');
    switch (act.do) {
      case 'request':
        return requested(person, act.version);
      case 'accept':
        return accepted(person, act.version);
      case 'revoke':
        return revoked(person);
      case 'submit':
        return this.submitted(person, act);
      case 'forget':
        return forgotten(person);
      case 'export':
        return exported(person);
      case 'status':
        return { status: 200, data: { status: person.status, version: person.version } };
    }
  }

  private category(what: 'declare' | 'withdraw', key: string): Expected {
    if (what === 'declare') {
      if (this.declared.has(key)) return { status: 409 };
      this.declared.add(key);
      return { status: 201 };
    }
    if (!this.declared.delete(key)) return { status: 404 };
    for (const person of this.people) if (person.data.delete(key)) person.events.push('data_deleted');
    return { status: 200 };
  }

  private submitted(person: Person, { category, data, merge }: Extract<Act, { do: 'submit' }>): Expected {
    if (person.status !== 'accepted') return { status: 403 };
    if (!this.declared.has(category)) return { status: 404 };
    const { text, number } = data;
    if (text != null && typeof text !== 'string') return { status: 400 };
    if (number != null && typeof number !== 'number') return { status: 400 };
    const before = person.data.get(category);
    const after = (merge ? merged(before, data) : withoutNulls(data)) as Json;
    const isEmpty = Object.keys(after).length === 0;
    person.events.push(isEmpty && before !== undefined ? 'data_deleted' : 'data_submitted');
    if (isEmpty) person.data.delete(category);
    else person.data.set(category, after);
    return { status: 200, data: { category, stored: true } };
  }
}

function requested(person: Person, version: string): Expected {
  if (person.status === 'accepted') {
    if (person.version === version) return { status: 201, data: { status: 'accepted', version } };
    if (person.pending !== version) person.events.push('consent_requested');
    person.pending = version;
    return { status: 201, data: { status: 'pending', version } };
  }
  if (person.status !== 'pending' || person.version !== version) person.events.push('consent_requested');
  Object.assign(person, { status: 'pending', version });
  return { status: 201, data: { status: 'pending', version } };
}

function accepted(person: Person, version: string): Expected {
  const waiting = person.status === 'pending' ? person.version : person.pending;
  if (waiting !== version) return { status: 404 };
  Object.assign(person, { status: 'accepted', version, pending: null });
  person.events.push('consent_accepted');
  return { status: 200, data: { status: 'accepted', version } };
}

function revoked(person: Person): Expected {
  if (person.status !== 'accepted') return { status: 404 };
  Object.assign(person, { status: 'revoked', pending: null });
  person.events.push('consent_revoked');
  return { status: 200, data: { status: 'revoked', version: person.version } };
}

function forgotten(person: Person): Expected {
  const keys = [...person.data.keys()].sort();
  Object.assign(person, { status: 'none', version: null, pending: null });
  person.data.clear();
  person.events.push('deletion_requested', 'deletion_completed');
  return { status: 200, data: { status: 'completed', deleted_categories: keys } };
}

function exported(person: Person): Expected {
  if (person.status === 'none' && person.data.size === 0) return { status: 404 };
  person.events.push('data_exported');
  return { status: 200, data: { data: Object.fromEntries(person.data) } };
}

/** RFC 7396, from its own pseudo-code. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutNulls = (data: Json): Json =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/** The same act, done to the service. */
function perform(bot: Bot, people: readonly SubjectIds[], act: Act): Promise<Answer> {
  if (!('user' in act)) {
    if (act.do === 'withdraw') return bot.delete(`/data/categories/${act.category}`);
    const fields = [field('text'), field('number', 'number'), field('json', 'json')];
    return bot.post('/data/register', { key: act.category, label_de: 'a', label_en: 'b', fields });
  }
  const who = people[act.user] as SubjectIds;
  switch (act.do) {
    case 'request':
    case 'accept':
      return bot.post(`/consents/${act.do}`, { ...who, consent_version: act.version });
    case 'revoke':
      return bot.post('/consents/revoke', who);
    case 'submit': {
      const { category, data, merge } = act;
      return bot.post('/data/submit', { ...who, category, data, mode: merge ? 'merge' : 'replace' });
    }
    case 'forget':
      return bot.post('/gdpr/forget-user', who);
    case 'export':
      return bot.export(who);
    case 'status':
      return bot.status(who);
  }
}

const user = fc.nat({ max: USERS - 1 });
const version = fc.constantFrom(...VERSIONS);
const category = fc.constantFrom(...CATEGORIES);
const json = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    1,
    'x',
    [1],
    {},
    { a: 1 },
    { a: null },
    { a: { b: 1, c: null } },
    { a: { b: null, d: 2 } },
  ),
);
const data = fc.record(
  { text: fc.constantFrom('x', 'y', null, 1), number: fc.constantFrom<unknown>(1, 2, null, 'x'), json },
  { requiredKeys: [] },
) as fc.Arbitrary<Json>;

const anAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('request' as const), user, version }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('accept' as const), user, version }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('revoke' as const, 'export' as const, 'status' as const),
      user,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('submit' as const), user, category, data, merge: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), user }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('declare' as const, 'withdraw' as const), category }),
  },
);

/** The usual beginning, so that most acts find what they need. */
const BEGINNING: readonly Act[] = [
  ...CATEGORIES.map((key) => ({ do: 'declare', category: key }) as const),
  { do: 'request', user: 0, version: '1' },
  { do: 'accept', user: 0, version: '1' },
];

const sorted = (answer: Answer): Json =>
  Array.isArray(answer.data['deleted_categories'])
    ? { ...answer.data, deleted_categories: [...(answer.data['deleted_categories'] as string[])].sort() }
    : answer.data;

describe('the service', () => {
  it('answers any sequence of acts as the model of the contract does, and has each on record once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anAct, { maxLength: 60, size: 'max' }), async (acts) => {
        const bot = await service.registerBot();
        const people = Array.from({ length: USERS }, () => ({ user_id: snowflake(), guild_id: snowflake() }));
        const model = new Model();
        for (const act of [...BEGINNING, ...acts]) {
          const expected = model.play(act);
          const answer = await perform(bot, people, act);
          expect({ act, status: answer.status }).toStrictEqual({ act, status: expected.status });
          if (expected.data !== undefined) expect(sorted(answer)).toMatchObject(expected.data);
          if (act.do === 'export' && expected.data !== undefined)
            expect(answer.data['data']).toStrictEqual(expected.data['data']);
        }
        for (const [index, person] of model.people.entries())
          expect(await bot.eventTypes(people[index] as SubjectIds)).toStrictEqual(person.events);
      }),
      { numRuns: 30 },
    );
  });
});
