import { BotAdministration } from '@app/bots';
import type { Bot } from '../support/bot';
import { Answer, Client, PREFIX } from '../support/client';
import { expectFailure } from '../support/expected';
import { CLOSED_ROUTES, type Route } from '../support/routes';
import { useServiceInProcess } from '../support/service';

type Scope = 'read' | 'write' | 'erase' | 'admin';
const SCOPES: readonly Scope[] = ['read', 'write', 'erase', 'admin'];

const ID = '018f2f00-0000-7000-8000-000000000000';
/** The scopes of every route: of all that are no GET, and of the GETs that a key of scope `admin` opens too. */
const NEEDED: readonly (readonly [RegExp, readonly Scope[]])[] = [
  [/^GET \/bots\/(me|[\w-]+|[\w-]+\/(keys|notice-settings))$/, ['read', 'admin']],
  [/^GET \/(webhooks\/deliveries|stats$)/, ['read', 'admin']],
  [/^GET /, ['read']],
  [/^POST \/consents\/status\/batch$/, ['read']],
  [/^(PUT|DELETE) \/bots\//, ['admin']],
  [/^POST \/bots\/[\w-]+\/(keys|keys\/rotate|webhook-secret\/rotate)$/, ['admin']],
  [/^POST \/webhooks\/(deliveries\/[\w-]+\/redeliver|replay|test)$/, ['admin']],
  [/^POST \/holders$/, ['admin']],
  [/^(PUT|DELETE) \/holders\//, ['admin']],
  [/^POST \/holders\/[\w-]+\/tasks\/[\w-]+\/acknowledge$/, ['write']],
  [/^POST \/privacy-links/, ['read', 'write', 'erase']],
  [/^DELETE \/privacy-links/, ['read', 'write', 'erase', 'admin']],
  [/^POST \/(gdpr\/forget-user|data\/object)$/, ['erase']],
  [/^DELETE \/(servers|data\/categories|data\/values)\//, ['erase']],
  [/^POST \/consents\/(request|accept|decline|revoke|texts)$/, ['write']],
  [/^POST \/servers\/(register|[\w-]+\/cancel-deletion)$/, ['write']],
  [/^POST \/(data\/register|data\/submit|data\/submit\/batch|data\/(un)?restrict|audit\/event)$/, ['write']],
  [/^PUT \/data\/categories\//, ['write']],
];

/** What a suspended bot may still do besides reading, and erasing. */
const WHILE_SUSPENDED = [
  'POST /consents/revoke',
  'POST /data/restrict',
  'POST /privacy-links',
  `DELETE /privacy-links/${ID}`,
  `POST /holders/key/tasks/${ID}/acknowledge`,
];

function neededBy({ method, path }: Route): readonly Scope[] {
  const route = `${method} ${path.split('?')[0]}`;
  return NEEDED.find(([pattern]) => pattern.test(route))?.[1] ?? [];
}

const service = useServiceInProcess();
let bot: Bot;
const keys = new Map<Scope, Client>();

beforeAll(async () => {
  bot = await service.registerBot();
  for (const scope of SCOPES) {
    const { data } = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: [scope] });
    keys.set(scope, new Client(service.url, data.api_key));
  }
});

/** With a body that is refused, so that a permitted request changes nothing. */
async function send(caller: Client, { method, path }: Route): Promise<Answer<unknown>> {
  if (method === 'POST' || method === 'PUT')
    return caller.send(method, PREFIX + path, { raw: '{', headers: { 'content-type': 'application/json' } });
  if (!path.startsWith('/audit/export')) return caller.send(method, PREFIX + path);
  // Lines without an envelope.
  const headers = { authorization: `Bearer ${caller.key}` };
  const answer = await fetch(caller.baseUrl + PREFIX + path, { headers });
  return new Answer(answer.status, answer.headers, await answer.text());
}

describe.each(CLOSED_ROUTES)('$method /api/v1$path', (route) => {
  it('is answered 403 insufficient_scope to a key without its scope, before the body and the 404', async () => {
    const needed = neededBy(route);
    expect(needed).not.toEqual([]);
    expect(route.scopes).toEqual(needed);
    for (const scope of SCOPES) {
      const answer = await send(keys.get(scope) as Client, route);
      if (needed.includes(scope)) expect(answer.status).not.toBe(403);
      else expectFailure(answer, 403, 'insufficient_scope', { required: needed[0] });
    }
  });

  it('is open to a suspended bot if it reads, exports, erases or revokes, else 403 suspended', async () => {
    const administration = service.app.get(BotAdministration, { strict: false });
    await administration.suspend(bot.id);
    const answer = await send(bot, route);
    await administration.resume(bot.platformBotId);
    const isOpen =
      neededBy(route).some((scope) => scope === 'read' || scope === 'erase') ||
      WHILE_SUSPENDED.includes(`${route.method} ${route.path}`);
    if (isOpen) expect(answer.status).not.toBe(403);
    else expectFailure(answer, 403, 'suspended');
    expect((await send(bot, route)).status).not.toBe(403);
  });
});

it('answers 401 before 403 to a key that was never issued', async () => {
  const stranger = new Client(service.url, `${bot.key.slice(0, -1)}${bot.key.endsWith('a') ? 'b' : 'a'}`);
  expectFailure(await stranger.delete(`/bots/${ID}`), 401, 'unauthorized');
});

it('answers HEAD to a key of scope read alone', async () => {
  const statuses = [];
  for (const scope of SCOPES)
    statuses.push((await keys.get(scope)?.send('HEAD', `${PREFIX}/servers`))?.status);
  expect(statuses).toEqual([200, 403, 403, 403]);
});

it('refuses the guide’s shape of a write with a key of scope read', async () => {
  const reader = keys.get('read') as Client;
  const body = { bot_id: bot.id, user_id: '123456789012345678', categories: ['x'] };
  expectFailure(await reader.post('/consents/request', body), 403, 'insufficient_scope', {
    required: 'write',
  });
});

it('takes a registration with any key', async () => {
  expect((await keys.get('read')?.post('/bots/register', {}))?.status).toBe(400);
});
