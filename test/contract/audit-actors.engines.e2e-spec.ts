import type { Bot } from '../support/bot';
import { Client } from '../support/client';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const PAGE = { 'x-lethe-console': '1', 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
let bot: Bot;
let who: SubjectIds;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  await bot.hasCategory('profile');
});

/** The acts of the log, oldest first, each with who did it. */
async function acts(): Promise<string[]> {
  const { events } = (
    await bot.get<{ events: { event_type: string; details: { actor?: string } | null }[] }>(
      '/audit/events?limit=100',
    )
  ).data;
  return events.map(({ event_type, details }) => `${event_type} by ${details?.actor ?? 'none'}`).reverse();
}

/** Sends a request of the console in a session of `bot`. */
async function inConsole(method: string, path: string, body?: object): Promise<number> {
  const send = (to: string, more: object, content?: object): Promise<Response> =>
    fetch(service.url + to, {
      method: to === '/console/session' ? 'POST' : method,
      headers: { ...PAGE, ...more },
      body: content === undefined ? undefined : JSON.stringify(content),
    });
  const begun = await send('/console/session', {}, { key: bot.key });
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (await send(`/console/api/v1${path}`, { cookie }, body)).status;
}

describe('details.actor of an audit event', () => {
  it('names the beginning of the key of a call, for every act', async () => {
    const by = `key:${bot.key?.slice(0, 16)}`;
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    await bot.post('/data/submit/batch', { items: [{ ...who, category: 'profile', data: { value: 'y' } }] });
    await bot.export(who);
    await bot.delete(`/data/values/${who.user_id}?guild_id=${who.guild_id}&category=profile`);
    await bot.post('/consents/revoke', who);
    expect(await acts()).toEqual(
      [
        ...['consent_requested', 'consent_accepted', 'data_submitted', 'data_submitted', 'data_exported'],
        ...['data_deleted', 'consent_revoked'],
      ].map((type) => `${type} by ${by}`),
    );
    await bot.hasForgotten(who);
    // The erasure has ended the details of all events but its own.
    expect((await acts()).slice(-2)).toEqual(['deletion_requested by none', `deletion_completed by ${by}`]);
  });

  it('names each of two keys', async () => {
    const { data } = await bot.post<{ api_key: string }>(`/bots/${bot.id}/keys`, { scopes: ['write'] });
    await bot.hasConsent(who);
    await new Client(service.url, data.api_key).post('/consents/revoke', who);
    expect((await acts()).at(-1)).toBe(`consent_revoked by key:${data.api_key.slice(0, 16)}`);
  });

  it('is the console for an act in a session of the console, and not afterwards', async () => {
    await bot.hasConsent(who);
    expect(await inConsole('POST', '/consents/revoke', who)).toBe(200);
    await bot.hasConsent(who, '2.0');
    const all = await acts();
    expect(all).toContain('consent_revoked by console');
    expect(all.at(-1)).toBe(`consent_accepted by key:${bot.key?.slice(0, 16)}`);
  });

  it('names who erases a guild or a category, for every user of it', async () => {
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    expect(await inConsole('DELETE', '/data/categories/profile')).toBe(200);
    expect((await acts()).at(-1)).toBe('data_deleted by console');
    await bot.post('/servers/register', { guild_id: who.guild_id });
    await bot.delete(`/servers/${who.guild_id}`);
    const by = `key:${bot.key?.slice(0, 16)}`;
    expect((await acts()).at(-1)).toBe(`deletion_completed by ${by}`);
  });

  it('is no field of an event that the bot writes', async () => {
    const { data } = await bot.post('/audit/event', { ...who, event_type: 'data_exported' });
    expect(data['details']).toBeNull();
    const given = { actor: 'operator' };
    const own = await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: given });
    expect(own.data['details']).toEqual(given);
  });
});
