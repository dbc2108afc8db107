import { BotAdministration } from '@app/bots';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { act, forms, get, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let url: string;

const linked = async (given: Json = {}): Promise<string> =>
  (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en', ...given })).data.url;
const note = async (form: URLSearchParams, to = url): Promise<string> => {
  const { status, headers } = await send(to, 'again', form);
  return /note=(\w+)$/.exec(headers.get('location') ?? '')?.[1] ?? String(status);
};
const ask = (more: Json = {}) =>
  bot.post('/consents/request', { ...who, categories: ['alpha', 'beta'], language: 'de', ...more });
const again = async (from = url) => forms(await get(from), 'again')[0];

describe('a refusal on the privacy page', () => {
  beforeEach(async () => {
    bot = await service.registerBot();
    who = subject();
    for (const key of ['alpha', 'beta']) await bot.hasCategory(key, [field('value')]);
    await ask();
    url = await linked();
    await act(url, 'decline');
  });

  it('can be changed: the request is shown once more, and only its form decides', async () => {
    expect((await get(url)).text).toMatch(/You declined on [^.]*\. If you change your mind, you can decide/);
    const form = await again();
    expect(await note(form!)).toBe('asked');
    expect((await bot.status(who)).data).toMatchObject({ status: 'pending', declined_at: null });
    const page = await get(`${url}?note=asked`);
    expect(page.text).toContain('Read the request again and decide.');
    expect(page.text).toContain('Dürfen wir Daten über dich speichern?');
    const accepting = forms(page, 'accept')[0]!;
    accepting.append('category', 'beta');
    await send(url, 'accept', accepting);
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    const query = `?user_id=${who.user_id}&guild_id=${who.guild_id}`;
    const { events } = (await bot.get<{ events: Json[] }>(`/audit/events${query}`)).data;
    expect(events.map(({ event_type, details }) => [event_type, (details as Json)['via']])).toEqual([
      ['consent_accepted', 'privacy_page'],
      ['consent_requested', 'privacy_page'],
      ['consent_requested', undefined],
    ]);
  });

  it('that is changed twice at once, or by a form of before, makes one request', async () => {
    const form = await again();
    expect(await Promise.all([note(form!), note(form!)])).toEqual(['asked', 'asked']);
    const history = `/consents/history?user_id=${who.user_id}&guild_id=${who.guild_id}`;
    const entries = async () => (await bot.get<{ entries: Json[] }>(history)).data.entries.length;
    expect(await entries()).toBe(3);
    await act(url, 'decline');
    expect(await note(form!)).toBe('answered');
    expect(await entries()).toBe(4);
  });

  it('of a version that the service has made is asked in the words of today', async () => {
    await bot.put('/data/categories/alpha', { label_de: 'Neuer Name' });
    expect(await note((await again())!)).toBe('asked');
    expect((await get(url)).text).toMatch(/value="alpha"\s*\/>\s*<bdi lang="de" dir="auto">Neuer Name/);
  });

  it('whose category is no longer declared is not asked again, and the page says so', async () => {
    expect((await bot.delete('/data/categories/alpha')).status).toBe(200);
    expect(await note((await again())!)).toBe('ended');
    expect((await get(`${url}?note=ended`)).text).toContain('does not exist any more as it was');
    expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
  });

  it('of a newer request beside a consent can be changed too, and the consent stays', async () => {
    await bot.hasConsent(who);
    await ask({ consent_version: '2' });
    await act(url, 'decline');
    expect(await note((await again())!)).toBe('asked');
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted', pending_version: '2' });
  });

  it('is reconsidered three times within a day, and then answered 429 with words, and records nothing', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await note((await again())!)).toBe('asked');
      await act(url, 'decline');
    }
    const answer = await send(url, 'again', (await again())!);
    expect(answer.status).toBe(429);
    expect(answer.text).toContain('again 24 hours after the first time');
    expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    const history = `/consents/history?user_id=${who.user_id}&guild_id=${who.guild_id}`;
    expect((await bot.get<{ entries: Json[] }>(history)).data.entries).toHaveLength(8);
    // The bot can ask.
    await ask();
    expect((await bot.status(who)).data).toMatchObject({ status: 'pending' });
  });

  it('is not offered by other links, in other guilds, by other marks or for suspended bots', async () => {
    const form = (await again())!;
    const viewing = await linked({ allow: ['view'] });
    expect(await again(viewing)).toBeUndefined();
    expect(await note(form, viewing)).toBe('403');
    const other = await linked({ ...subject() });
    expect(await note(form, other)).toBe('403');
    const changed = new URLSearchParams(form);
    changed.set('guild', subject().guild_id);
    expect(await note(changed)).toBe('403');
    changed.set('guild', who.guild_id);
    changed.set('shown', 'another');
    expect(await note(changed)).toBe('403');
    const { status } = await send(url, 'again', form, { origin: 'https://evil.example' });
    expect(status).toBe(403);
    await service.app.get(BotAdministration, { strict: false }).suspend(bot.id);
    expect(await again()).toBeUndefined();
    expect(await note(form)).toBe('403');
    expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
  });
});
