import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { expectFaults } from '../support/expected';
import { useService } from '../support/shared-service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

// Every list is walked by `pagination.next` and `after`.

const service = useService();
const GUILD = snowflake();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ webhook_url: 'http://127.0.0.1:8088/closed' });
});

/** A list: its path, the name of its rows and of what identifies one, and the act that adds a row to it. */
interface List {
  readonly path: string;
  readonly rows: string;
  readonly id: string;
  readonly add: (at: number) => Promise<unknown>;
}

const who = subject();
const lists: Readonly<Record<string, List>> = {
  servers: {
    path: '/servers?',
    rows: 'servers',
    id: 'id',
    add: () => bot.post('/servers/register', { guild_id: snowflake() }),
  },
  categories: {
    path: '/data/categories?',
    rows: 'categories',
    id: 'id',
    add: (at) => bot.hasCategory(`category_${at}`),
  },
  'registered texts': {
    path: '/consents/texts?',
    rows: 'texts',
    id: 'digest',
    add: (at) =>
      bot.post('/consents/texts', {
        ...{ consent_version: `${at}.0`, language: 'en', title: 'Your data', body: `Text ${at}` },
      }),
  },
  'the history of a consent': {
    path: `/consents/history?user_id=${who.user_id}&guild_id=${who.guild_id}&`,
    rows: 'entries',
    id: 'id',
    add: (at) => bot.hasRequest(who, `${at}.0`),
  },
  'values of a guild': {
    path: `/data/values?guild_id=${GUILD}&category=profile&`,
    rows: 'values',
    id: 'user_id',
    add: () => storedUser(),
  },
  'audit events': {
    path: '/audit/events?',
    rows: 'events',
    id: 'id',
    add: () => bot.hasRequest(subject()),
  },
  'audit events of one type': {
    path: '/audit/events?event_type=consent_requested&',
    rows: 'events',
    id: 'id',
    add: () => bot.hasRequest(subject()),
  },
  checkpoints: {
    path: '/audit/checkpoints?',
    rows: 'checkpoints',
    id: 'number',
    add: async () => {
      const user = subject();
      await bot.hasRequest(user);
      const { events } = (await bot.get<{ events: Json[] }>(`/audit/events?user_id=${user.user_id}`)).data;
      // The proof of an event seals it.
      await bot.get(`/audit/proof/${String(events[0]?.['id'])}`);
    },
  },
  'webhook deliveries': {
    path: '/webhooks/deliveries?',
    rows: 'deliveries',
    id: 'id',
    add: async () => {
      const revoked = subject();
      await bot.hasConsent(revoked);
      await bot.hasRevoked(revoked);
    },
  },
  'keys of a bot': {
    path: '/bots/BOT/keys?',
    rows: 'keys',
    id: 'id',
    add: () => bot.post(`/bots/${bot.id}/keys`, {}),
  },
};

async function storedUser(): Promise<SubjectIds> {
  const user = { ...subject(), guild_id: GUILD };
  if ((await bot.get('/data/categories/profile')).status === 404)
    await bot.hasCategory('profile', [field('value')]);
  await bot.hasConsent(user);
  await bot.hasData(user, 'profile', { value: 'a' });
  return user;
}

interface Listed {
  readonly ids: string[];
  readonly pagination: Json & { readonly next: string | null };
}

async function pageOf({ path, rows, id }: List, query: string): Promise<Listed> {
  const answer = await bot.get<Record<string, Json[]>>(path.replace('BOT', bot.id) + query);
  expect(answer.status).toBe(200);
  const { pagination, [rows]: found = [] } = answer.data;
  return { ids: found.map((row) => String(row[id])), pagination: pagination as never };
}

describe.each(Object.entries(lists))('a walk through %s', (_, list) => {
  beforeEach(async () => {
    for (let at = 1; at <= 4; at++) await list.add(at);
  });

  it('reads every row once, as its pages do, and ends with null', async () => {
    const { ids, pagination } = await pageOf(list, 'page_size=100');
    expect(ids.length).toBeGreaterThanOrEqual(4);
    expect(pagination).toMatchObject({ page: 1, next: null });
    const walked: string[] = [];
    let { ids: found, pagination: at } = await pageOf(list, 'page_size=1');
    walked.push(...found);
    while (at.next !== null) {
      ({ ids: found, pagination: at } = await pageOf(list, `page_size=1&after=${at.next}`));
      expect(at).toMatchObject({
        page: null,
        page_size: 1,
        total_count: ids.length,
        total_pages: ids.length,
      });
      expect(found).toHaveLength(1);
      walked.push(...found);
    }
    expect(walked).toEqual(ids);
    const last = await pageOf(list, `page=${Number.MAX_SAFE_INTEGER}&page_size=100`);
    expect(last).toMatchObject({
      ids: [],
      pagination: { page: Number.MAX_SAFE_INTEGER, total_count: ids.length, next: null },
    });
  });

  it('goes on behind the last row while rows come', async () => {
    const { ids: before } = await pageOf(list, 'page_size=100');
    const first = await pageOf(list, 'page_size=2');
    await list.add(5);
    const rest = await pageOf(list, `page_size=100&after=${first.pagination.next}`);
    const walked = [...first.ids, ...rest.ids];
    expect(walked.filter((id) => before.includes(id))).toEqual(before);
    expect(new Set(walked).size).toBe(walked.length);
    expect(rest.pagination.next).toBeNull();
    // Counted once, where the walk began: the rows of a long list are not counted for each of its pages.
    const { total_count, total_pages } = rest.pagination;
    expect([total_count, total_pages]).toEqual([first.pagination['total_count'], 1]);
  });

  it('refuses a page number beside it, a changed cursor, and one of another list, filter or bot', async () => {
    const { pagination } = await pageOf(list, 'page_size=1');
    const next = String(pagination.next);
    const changed = next.slice(0, -3) + (next.at(-3) === 'A' ? 'B' : 'A') + next.slice(-2);
    const path = list.path.replace('BOT', bot.id);
    for (const query of [
      `page=1&after=${next}`,
      `after=${changed}`,
      'after=x',
      'after=%20',
      `after=${'a'.repeat(501)}`,
    ])
      expectFaults(await bot.get(path + query), 'after');
    const other = list.rows === 'servers' ? '/data/categories?' : '/servers?';
    expectFaults(await bot.get(`${other}after=${next}`), 'after');
    const stranger = await service.registerBot();
    if (list.rows !== 'keys' && list.rows !== 'values')
      expectFaults(await stranger.get(`${path}after=${next}`), 'after');
    if (list.rows === 'events')
      expectFaults(await bot.get(`/audit/events?event_type=data_exported&after=${next}`), 'after');
  });
});

it('a walk through the values of a guild misses nobody while users who were read are erased', async () => {
  const list = lists['values of a guild'];
  if (list === undefined) throw new Error('the list is missing');
  const users = new Map<string, SubjectIds>();
  for (let count = 0; count < 6; count++) {
    const user = await storedUser();
    users.set(user.user_id, user);
  }
  const walked: string[] = [];
  for (let next: string | null | undefined; next !== null;) {
    const { ids, pagination } = await pageOf(
      list,
      `page_size=2${next === undefined ? '' : `&after=${next}`}`,
    );
    walked.push(...ids);
    for (const id of ids) await bot.hasForgotten(users.get(id) ?? who);
    next = pagination.next;
  }
  expect(walked.sort()).toEqual([...users.keys()].sort());
});
