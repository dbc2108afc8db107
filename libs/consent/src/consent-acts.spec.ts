import { categoryName } from '@app/categories';
import type { About, Act } from '@app/acts';
import { ApiError, invalidRequest } from '@app/kernel';
import type { Digest } from '@app/crypto';
import { ConsentAcceptAct } from './consent-accept.act';
import { withoutDeclaration } from './consent-changes';
import { ConsentDeclineAct } from './consent-decline.act';
import { ConsentRequestAct } from './consent-request.act';
import { ConsentRevokeAct } from './consent-revoke.act';
import type { Consent } from './consent.entity';

// The rule of each act as a table: what the consent is before, what is asked for, what it is afterwards or why not.

const [EARLIER, ASKED, NOW] = [
  '2026-01-01T00:00:00.000Z',
  '2026-01-02T00:00:00.000Z',
  '2026-01-03T00:00:00.000Z',
];
const LATER = '2026-01-04T00:00:00.000Z';
const DIGESTS = { botId: 'bot', guildId: 'guild' as Digest, userId: 'user' as Digest };
const SUBJECT = { ...DIGESTS, ids: { guild_id: '2', user_id: '1' } };
const declaredAs = (ending?: string) =>
  new Map(['a', 'b', 'c'].map((key) => [key, { requires: true, isEnding: key === ending }] as const));
const HELD = new Map(['a', 'b', 'c'].map((key) => [categoryName({ botId: 'bot', key }), true] as const));

const NOTHING_PENDING = {
  pendingId: null,
  pendingVersion: null,
  pendingCategories: null,
  pendingRequestedAt: null,
};

/** A request that waits for an answer about the categories a and b. */
const WAITING: Consent = {
  ...{ ...DIGESTS, id: 'r1', status: 'pending', version: '1', categories: { a: 'pending', b: 'pending' } },
  ...{
    requestedAt: ASKED,
    acceptedAt: null,
    revokedAt: null,
    erasing: 0,
    ...NOTHING_PENDING,
    beforeRequest: null,
  },
};
const WAITING_FOR_ALL: Consent = { ...WAITING, categories: null };
/** A consent to a, whose request was also about b. */
const ACCEPTED: Consent = {
  ...{ ...WAITING, id: 'c1', status: 'accepted', categories: { a: 'accepted', b: 'none' } },
  ...{ requestedAt: EARLIER, acceptedAt: EARLIER },
};
/** A consent to a, of which b was withdrawn. */
const PARTLY: Consent = { ...ACCEPTED, categories: { a: 'accepted', b: 'revoked' } };
const ACCEPTED_ALL: Consent = { ...ACCEPTED, categories: null };
/** {@link ACCEPTED}, and a newer request that waits. */
const ASKED_AGAIN: Consent = {
  ...{
    ...ACCEPTED,
    pendingId: 'r2',
    pendingVersion: '2',
    pendingCategories: ['b'],
    pendingRequestedAt: ASKED,
  },
};
const BEFORE = { id: 'c1', version: '1', categories: { a: 'revoked' }, requestedAt: EARLIER } as const;
const REPLACED = { ...BEFORE, acceptedAt: EARLIER, revokedAt: EARLIER };
const REVOKED: Consent = { ...WAITING, ...REPLACED, status: 'revoked' };
/** A request after {@link REVOKED}. */
const ASKED_AFTER_REVOKED: Consent = { ...WAITING, beforeRequest: REPLACED };
/** What closes a subject without a consent during its erasure. */
const CLOSED: Consent = { ...WAITING, status: 'none', version: '', categories: null, erasing: 1 };

/** The dependencies of an act, of which its rule reads nothing. */
const UNREAD = new Proxy(
  {},
  {
    get: (_, name) => {
      throw new Error(`decide reads ${String(name)}`);
    },
  },
) as never;

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

type Row<State, Input> = readonly [name: string, state: State, input: Input, expected: object, now?: string];

/** Each row: what is decided in a state about an input, or the code and details of its refusal. */
function decides<Input, State extends About, Change>(
  act: Pick<Act<Input, State, Change, object>, 'decide'>,
  rows: readonly Row<State, NoInfer<Input>>[],
): void {
  for (const [name, state, input, expected, now = NOW] of rows)
    it(name, () => {
      const decide = (): unknown => {
        try {
          return act.decide(frozen(state), frozen(input), now);
        } catch (error) {
          if (error instanceof ApiError) return { refused: error.code, ...error.details };
          throw error;
        }
      };
      const decided = decide();
      expect(decided).toEqual(expect.objectContaining(expected));
      expect(decide()).toEqual(decided);
    });
}

/** Who acts. */
const BY = 'key:sk_live_a';

const missing = (current_status: string) => ({ refused: 'not_found', current_status });
const UNDECLARED = { refused: 'not_found' };

describe('a request for a consent', () => {
  const asking = (version = '1') => ({ version, shown: { language: 'en', texts: [] }, texts: null });
  const state = (before: Consent | null, asked: ReturnType<typeof asking> | ApiError = asking()) => {
    return { subject: SUBJECT, before, asking: asked, held: HELD };
  };
  const input = (keys: readonly string[] | null, source: string | null = null) => {
    const categories = keys && [...keys];
    return { subject: SUBJECT, keys, id: 'new', input: { ...SUBJECT.ids, categories, source }, by: BY };
  };
  const noText = invalidRequest([{ field: 'language', message: 'none' }]);

  /** The consent after a request that replaces what there was. */
  const waiting = (categories: Consent['categories'], more: Partial<Consent> = {}) => {
    const consent = { ...WAITING, id: 'new', requestedAt: NOW, categories, ...more };
    const { version } = consent;
    const request = { id: 'new', version, categories: categories && Object.keys(categories), at: NOW };
    return { status: 'pending', isFirst: false, consent, request };
  };
  /** The consent after a request that waits beside it. */
  const beside = (version: string, categories: readonly string[] | null) => {
    const consent = { ...ACCEPTED, pendingId: 'new', pendingVersion: version, pendingRequestedAt: NOW };
    return { status: 'pending', isFirst: false, consent: { ...consent, pendingCategories: categories } };
  };
  const repeat = (status: string, id: string, at: string) => {
    return { status, request: expect.objectContaining({ id, at }) as unknown, consent: undefined };
  };
  const EMPTIED: readonly NonNullable<Consent['categories']>[] = [{}, { b: 'none' }];
  const [A, BOTH] = [{ a: 'pending' }, { a: 'pending', b: 'pending' }] as const;

  decides(new ConsentRequestAct(UNREAD, UNREAD, UNREAD, UNREAD, UNREAD), [
    ['of a user never asked', state(null), input(['a', 'b']), { ...waiting(BOTH), isFirst: true }],
    ['about everything', state(null), input(null), { ...waiting(null), isFirst: true }],
    ['with its source', state(null), input(null, 'button'), { source: 'button' }],
    ['that waits is repeated', state(WAITING), input(['a', 'b']), repeat('pending', 'r1', ASKED)],
    ['is repeated in another order', state(WAITING), input(['b', 'a']), repeat('pending', 'r1', ASKED)],
    ['about everything is repeated', state(WAITING_FOR_ALL), input(null), repeat('pending', 'r1', ASKED)],
    ['for fewer categories replaces the one that waits', state(WAITING), input(['a']), waiting(A)],
    [
      'for other categories replaces it',
      state(WAITING),
      input(['a', 'c']),
      waiting({ a: 'pending', c: 'pending' }),
    ],
    ['for everything replaces it', state(WAITING), input(null), waiting(null)],
    [
      'of another version replaces it',
      state(WAITING, asking('2')),
      input(['a', 'b']),
      waiting(BOTH, { version: '2' }),
    ],
    ['for what is granted is a repeat', state(ACCEPTED), input(['a']), repeat('accepted', 'c1', EARLIER)],
    [
      'for a part of all that is granted is a repeat',
      state(ACCEPTED_ALL),
      input(['c']),
      repeat('accepted', 'c1', EARLIER),
    ],
    [
      'without categories is a repeat after a part was withdrawn',
      state(PARTLY),
      input(null),
      repeat('accepted', 'c1', EARLIER),
    ],
    ...EMPTIED.map((categories): Row<ReturnType<typeof state>, ReturnType<typeof input>> => [
      `without categories is new beside a consent whose last category was deleted (${Object.keys(categories).join()})`,
      state({ ...ACCEPTED, categories }),
      input(null),
      { ...beside('1', null), consent: { ...beside('1', null).consent, categories } },
    ]),
    [
      'for a category that was withdrawn waits beside the consent',
      state(PARTLY),
      input(['b']),
      { ...beside('1', ['b']), consent: { ...beside('1', ['b']).consent, categories: PARTLY.categories } },
    ],
    [
      'for what is not granted waits beside the consent',
      state(ACCEPTED),
      input(['a', 'b']),
      beside('1', ['a', 'b']),
    ],
    [
      'of another version waits beside the consent',
      state(ACCEPTED, asking('2')),
      input(['a']),
      beside('2', ['a']),
    ],
    [
      'beside the consent is repeated',
      state(ASKED_AGAIN, asking('2')),
      input(['b']),
      repeat('pending', 'r2', ASKED),
    ],
    ['replaces the one beside the consent', state(ASKED_AGAIN, asking('3')), input(null), beside('3', null)],
    ['keeps the withdrawn consent', state(REVOKED), input(['a']), waiting(A, { beforeRequest: REPLACED })],
    [
      'keeps what the one that waits has replaced',
      state(ASKED_AFTER_REVOKED),
      input(['a']),
      waiting(A, { beforeRequest: REPLACED }),
    ],
    ['during an erasure leaves the subject closed', state(CLOSED), input(['a']), waiting(A, { erasing: 1 })],
    ['for an undeclared category is refused', state(ACCEPTED_ALL), input(['a', 'z']), UNDECLARED],
    [
      'in a language without a text is refused',
      state(null, noText),
      input(['a']),
      { refused: 'invalid_request' },
    ],
    ['is refused for its category first', state(null, noText), input(['z']), UNDECLARED],
  ]);
});

/** What calls by user and guild, or by an id that is known, address. */
const addressed = (consent: Consent | null, agrees = true) => ({ subject: DIGESTS, consent, agrees });
const STRANGE = { subject: undefined, consent: null, agrees: false };

describe('an acceptance', () => {
  const state = (...given: Parameters<typeof addressed>) => ({ ...addressed(...given), held: HELD });
  const byUser = (consent_version: string, categories?: string[], source?: string) => {
    const given = { ...SUBJECT.ids, consent_version, categories: categories ?? null, source: source ?? null };
    return { botId: 'bot', input: given, by: BY };
  };
  const byId = (consent_id: string, categories?: string[]) => {
    return { botId: 'bot', input: { consent_id, categories: categories ?? null }, by: BY };
  };
  const given = (categories: Consent['categories'], more: Partial<Consent> = {}) => {
    const consent = { ...WAITING, status: 'accepted', categories, acceptedAt: NOW, ...more };
    const granted = categories && Object.keys(categories).filter((key) => categories[key] === 'accepted');
    const { id, version } = consent;
    return { consent, act: expect.objectContaining({ id, version, categories: granted }) as unknown };
  };
  const BOTH = { a: 'accepted', b: 'accepted' } as const;
  const NEWER = { id: 'r2', version: '2', ...NOTHING_PENDING };
  const ERASING: Consent = { ...ACCEPTED_ALL, erasing: 1 };

  decides(new ConsentAcceptAct(UNREAD, UNREAD, UNREAD, UNREAD), [
    ['grants what the request is about', state(WAITING), byUser('1'), given(BOTH)],
    ['grants everything', state(WAITING_FOR_ALL), byUser('1'), given(null)],
    ['grants the named categories', state(WAITING), byUser('1', ['a']), given({ a: 'accepted', b: 'none' })],
    [
      'grants named categories of everything',
      state(WAITING_FOR_ALL),
      byUser('1', ['c']),
      given({ c: 'accepted' }),
    ],
    ['grants what its id names', state(WAITING), byId('r1'), given(BOTH)],
    ['grants what its id names in large letters', state(WAITING), byId('R1'), given(BOTH)],
    ['grants the newer request', state(ASKED_AGAIN), byUser('2'), given({ b: 'accepted' }, NEWER)],
    ['forgets the withdrawn consent', state(ASKED_AFTER_REVOKED), byUser('1'), given(BOTH)],
    ['is not before its request', state(WAITING), byUser('1'), given(BOTH, { acceptedAt: ASKED }), EARLIER],
    [
      'has its source',
      state(WAITING),
      byUser('1', ['a'], 'button'),
      { act: expect.objectContaining({ source: 'button' }) as unknown },
    ],
    [
      'names who gave it',
      state(WAITING),
      byUser('1'),
      { act: expect.objectContaining({ by: BY }) as unknown },
    ],
    ['of a part, repeated by its id for all, is refused', state(ACCEPTED), byId('c1'), missing('accepted')],
    [
      'repeated by its id for the same categories changes nothing',
      state(ACCEPTED),
      byId('C1', ['a']),
      { inForce: ACCEPTED },
    ],
    [
      'of everything repeated by its id changes nothing',
      state(ACCEPTED_ALL),
      byId('c1'),
      { inForce: ACCEPTED_ALL },
    ],
    [
      'repeated by its id for other categories is refused',
      state(ACCEPTED),
      byId('c1', ['b']),
      missing('accepted'),
    ],
    ['repeated by its id during an erasure is refused', state(ERASING), byId('c1'), missing('accepted')],
    ['repeated by its version is refused', state(ACCEPTED_ALL), byUser('1'), missing('accepted')],
    [
      'repeated by its id after a withdrawal is refused',
      state({ ...REVOKED, categories: null }),
      byId('c1'),
      missing('revoked'),
    ],
    ['of a user never asked is refused', state(null), byUser('1'), missing('none')],
    ['of an unknown request is refused', { ...STRANGE, held: HELD }, byId('r9'), missing('none')],
    ['of another version is refused', state(WAITING), byUser('2'), missing('pending')],
    ['by the id of another request is refused', state(ASKED_AGAIN), byId('r1'), missing('accepted')],
    [
      'by the id of the request of another user is refused',
      state(WAITING, false),
      byId('r1'),
      missing('pending'),
    ],
    ['of an undeclared category is refused', state(WAITING_FOR_ALL), byUser('1', ['z']), UNDECLARED],
    [
      'of a category not asked for is refused',
      state(WAITING),
      byUser('1', ['c']),
      { refused: 'invalid_request' },
    ],
  ]);
});

describe('a refusal', () => {
  const byUser = { botId: 'bot', input: { ...SUBJECT.ids, source: 'button' } };
  const byId = (consent_id: string) => ({ botId: 'bot', input: { consent_id } });
  const before = (after: Consent | null, at = NOW) => ({ after, at });

  decides(new ConsentDeclineAct(UNREAD, UNREAD, UNREAD), [
    ['leaves nothing of a first request', addressed(WAITING), byUser, before(null)],
    ['leaves the withdrawn consent', addressed(ASKED_AFTER_REVOKED), byUser, before(REVOKED)],
    ['leaves the consent in force', addressed(ASKED_AGAIN), byId('R2'), before(ACCEPTED)],
    [
      'leaves the subject closed during an erasure',
      addressed({ ...WAITING, erasing: 1 }),
      byUser,
      before({ ...CLOSED, id: 'r1' }),
    ],
    ['is not before its request', addressed(WAITING), byId('r1'), before(null, ASKED), EARLIER],
    [
      'is about the request, with its source',
      addressed(ASKED_AGAIN),
      byUser,
      {
        act: expect.objectContaining({
          id: 'r2',
          version: '2',
          categories: ['b'],
          source: 'button',
        }) as unknown,
        before: ASKED_AGAIN,
      },
    ],
    ['without a request is refused', addressed(ACCEPTED), byUser, missing('accepted')],
    ['after a withdrawal is refused', addressed(REVOKED), byUser, missing('revoked')],
    ['of a user never asked is refused', addressed(null), byUser, missing('none')],
    ['of an unknown request is refused', STRANGE, byId('r9'), missing('none')],
    ['by the id of another request is refused', addressed(ASKED_AGAIN), byId('c1'), missing('accepted')],
    [
      'by the id of the request of another user is refused',
      addressed(WAITING, false),
      byId('r1'),
      missing('pending'),
    ],
  ]);
});

describe('a withdrawal', () => {
  const state = (consent: Consent | null, ending?: string) => ({
    subject: SUBJECT,
    consent,
    declared: declaredAs(ending),
  });
  const input = (categories: string[] | null, more: object = {}) => {
    return { subject: SUBJECT, input: { ...SUBJECT.ids, categories }, by: BY, ...more };
  };
  const GRANTED: Consent = { ...ACCEPTED, categories: { a: 'accepted', b: 'accepted' } };
  const whole = (before: Consent, categories: Consent['categories'], at = NOW) => {
    const consent = { ...before, ...NOTHING_PENDING, status: 'revoked', categories, revokedAt: at };
    return {
      consent,
      at,
      act: expect.objectContaining({ id: 'c1', version: '1', categories: null }) as unknown,
    };
  };
  const part = (before: Consent, categories: Consent['categories'], named: readonly string[]) => {
    const act = expect.objectContaining({ id: 'c1', version: '1', categories: named }) as unknown;
    return { consent: { ...before, categories }, at: NOW, act };
  };

  decides(new ConsentRevokeAct(UNREAD, UNREAD, UNREAD, UNREAD), [
    ['of everything', state(ACCEPTED_ALL), input(null), whole(ACCEPTED_ALL, null)],
    ['of all that is granted', state(ACCEPTED), input(null), whole(ACCEPTED, { a: 'revoked', b: 'none' })],
    [
      'ends a newer request too',
      state(ASKED_AGAIN),
      input(null),
      whole(ACCEPTED, { a: 'revoked', b: 'none' }),
    ],
    ['of a category', state(GRANTED), input(['a']), part(GRANTED, { a: 'revoked', b: 'accepted' }, ['a'])],
    [
      'of a category says what was granted of all that it names, once',
      state({ ...GRANTED, categories: { ...GRANTED.categories, c: 'none' } }),
      input(['c', 'a', 'a']),
      part(GRANTED, { a: 'revoked', b: 'accepted', c: 'none' }, ['a']),
    ],
    [
      'of a category leaves a newer request',
      state({ ...ASKED_AGAIN, categories: GRANTED.categories }),
      input(['a']),
      part({ ...ASKED_AGAIN }, { a: 'revoked', b: 'accepted' }, ['a']),
    ],
    [
      'of a category of everything',
      state(ACCEPTED_ALL),
      input(['b']),
      part(ACCEPTED_ALL, { a: 'accepted', b: 'revoked', c: 'accepted' }, ['b']),
    ],
    [
      'of everything names no category whose deletion has begun',
      state(ACCEPTED_ALL, 'c'),
      input(['b']),
      part(ACCEPTED_ALL, { a: 'accepted', b: 'revoked' }, ['b']),
    ],
    [
      'of a category whose deletion has begun is none of the others',
      state(ACCEPTED_ALL, 'c'),
      input(['c']),
      part(ACCEPTED_ALL, { a: 'accepted', b: 'accepted' }, ['c']),
    ],
    [
      'of the last category is one of everything',
      state(ACCEPTED),
      input(['a', 'b']),
      whole(ACCEPTED, { a: 'revoked', b: 'none' }),
    ],
    [
      'is not before the consent',
      state({ ...ACCEPTED_ALL, acceptedAt: LATER }),
      input(null),
      whole({ ...ACCEPTED_ALL, acceptedAt: LATER }, null, LATER),
    ],
    [
      'has its source, and names who gave it',
      state(ACCEPTED),
      { ...input(null), input: { ...SUBJECT.ids, source: 'button' } },
      { act: expect.objectContaining({ source: 'button', by: BY }) as unknown },
    ],
    ['of a user never asked is refused', state(null), input(null), missing('none')],
    ['before an answer is refused', state(WAITING), input(null), missing('pending')],
    ['repeated is refused', state(REVOKED), input(null), missing('revoked')],
    ['of a category that is not granted is refused', state(ACCEPTED), input(['b']), missing('accepted')],
    ['of no category is refused', state(ACCEPTED), input([]), missing('accepted')],
    ['of an undeclared category is refused', state(ACCEPTED_ALL), input(['a', 'z']), UNDECLARED],
  ]);
});

describe('the deletion of a category', () => {
  const ONLY_A: Consent = { ...WAITING, categories: { a: 'pending' } };
  const LEFT: Consent = { ...REVOKED, categories: {} };

  it.each<[string, Consent, string, Consent | null]>([
    ['leaves the others of a request that waits', WAITING, 'b', ONLY_A],
    ['ends a first request for nothing else', ONLY_A, 'a', null],
    [
      'ends a request for nothing else beside a consent',
      ASKED_AGAIN,
      'b',
      { ...ACCEPTED, categories: { a: 'accepted' } },
    ],
    [
      'leaves a request beside a consent that is for others',
      ASKED_AGAIN,
      'a',
      { ...ASKED_AGAIN, categories: { b: 'none' } },
    ],
    [
      'leaves the withdrawn consent that a request for nothing else has replaced',
      { ...ONLY_A, beforeRequest: REPLACED },
      'a',
      LEFT,
    ],
    ['leaves the subject closed during an erasure', { ...ONLY_A, erasing: 1 }, 'a', { ...CLOSED, id: 'r1' }],
    ['leaves a request for everything', WAITING_FOR_ALL, 'a', WAITING_FOR_ALL],
  ])('%s', (_, consent, category, left) => {
    expect(withoutDeclaration(frozen(consent), category)).toEqual(left);
  });
});
