import { BotAdministration } from '@app/bots';
import { type Bot, field } from '../support/bot';
import type { Json } from '../support/client';
import { act, forms, get, type Page, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const service = useServiceInProcess();
const HOSTILE = `"><img src=x onerror=alert(1)>`;
let bot: Bot;
let who: SubjectIds;

const linked = async (given: Json = {}, about: Json = { ...who }): Promise<string> =>
  (await bot.post<{ url: string }>('/privacy-links', { ...about, language: 'en', ...given })).data.url;
const held = async (about: SubjectIds = who): Promise<string[]> => {
  const { data } = await bot.get<{ data: object } | null>(
    `/data/export/${about.user_id}?guild_id=${about.guild_id}`,
  );
  return Object.keys(data?.data ?? {}).sort();
};
const confirming = (url: string, key: string, guild = who.guild_id): string =>
  `${url}/erase?of=${encodeURIComponent(`${guild}/${key}`)}`;
const formOf = async (url: string, key: string): Promise<URLSearchParams> =>
  forms(await get(confirming(url, key)), 'erase')[0]!;
/** What the page says after a form. */
const said = async (url: string, { headers }: Page): Promise<string | undefined> =>
  /role="status">\s*<p>\s*([^]*?)\s*<\/p>/.exec(
    (await get(new URL(headers.get('location') ?? '', url).href)).text,
  )?.[1];

describe('the erasure of one category on the privacy page', () => {
  beforeEach(async () => {
    bot = await service.registerBot();
    who = subject();
    for (const key of ['alpha', 'beta']) await bot.hasCategory(key, [field('value')]);
    await bot.hasConsent(who);
    for (const key of ['alpha', 'beta']) await bot.hasData(who, key, { value: `of ${key}` });
  });

  it('takes a confirmation, erases this category alone, and says so', async () => {
    const url = await linked();
    const page = await get(url);
    const [, path = ''] = /href="([^"]*\/erase\?of=[^"]*alpha[^"]*)"/.exec(page.text) ?? [];
    const confirmation = await get(new URL(path.replaceAll('&amp;', '&'), url).href);
    expect(confirmation.text).toContain('<h1>Erase Category alpha?</h1>');
    expect(confirmation.text).toContain('Your consent stays');
    expect(await held()).toEqual(['alpha', 'beta']);
    const answer = await send(url, 'erase', forms(confirmation, 'erase')[0]!);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/&note=erased$/),
    ]);
    expect(await held()).toEqual(['beta']);
    expect(await said(url, answer)).toBe('Erased: Category alpha.');
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    const { events } = (
      await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}&guild_id=${who.guild_id}`)
    ).data;
    expect(events.find(({ event_type }) => event_type === 'data_deleted')).toMatchObject({
      source: 'service',
      details: { category: 'alpha', via: 'privacy_page' },
    });
  });

  it('switches the language of the confirmation and stays on it', async () => {
    const url = await linked();
    const { text } = await get(confirming(url, 'alpha'));
    const [, path = ''] = /href="([^"]*lang=de)"/.exec(text) ?? [];
    const german = (await get(new URL(path.replaceAll('&amp;', '&'), url).href)).text;
    expect(german).toContain('<h1>Kategorie alpha löschen?</h1>');
  });

  it('that is sent twice erases once, and says the second time that nothing is left', async () => {
    const url = await linked();
    const form = await formOf(url, 'alpha');
    const answers = [await send(url, 'erase', form), await send(url, 'erase', form)];
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(await said(url, answers[1]!)).toBe('Nothing is stored in this category any more.');
    const { events } = (
      await bot.get<{ events: Json[] }>(`/audit/events?user_id=${who.user_id}&guild_id=${who.guild_id}`)
    ).data;
    expect(events.filter(({ event_type }) => event_type === 'data_deleted')).toHaveLength(1);
  });

  it('has a form for its category alone: no other category, other link, other act or other page', async () => {
    const url = await linked();
    const form = await formOf(url, 'alpha');
    const other = new URLSearchParams(form);
    other.set('shown', `${who.guild_id}/beta`);
    expect((await send(url, 'erase', other)).status).toBe(403);
    other.set('shown', '');
    expect((await send(url, 'erase', other)).status).toBe(403);
    expect((await send(url, 'forget', form)).status).toBe(403);
    expect((await send(await linked(), 'erase', form)).status).toBe(403);
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await send(url, 'erase', form, headers)).status).toBe(403);
    expect(await held()).toEqual(['alpha', 'beta']);
  });

  it.each([['view'], ['consent'], ['export']])('is refused to a link that allows %s alone', async (allow) => {
    const all = await linked();
    const url = await linked({ allow: [allow] });
    expect((await get(url)).text).not.toContain('/erase?of=');
    expect((await get(confirming(url, 'alpha'))).status).toBe(403);
    expect((await send(url, 'erase', await formOf(all, 'alpha'))).status).toBe(403);
    expect(await held()).toEqual(['alpha', 'beta']);
  });

  it('is refused in another server, of another user, and of what is not declared', async () => {
    const url = await linked();
    const other = { ...who, guild_id: subject().guild_id };
    await bot.hasConsent(other);
    await bot.hasData(other, 'alpha', { value: 'other' });
    for (const [key, guild] of [
      ['alpha', other.guild_id],
      ['gamma', who.guild_id],
      ['__proto__', who.guild_id],
      [HOSTILE, who.guild_id],
      ['', ''],
    ] as const) {
      const { status, text } = await get(confirming(url, key, guild));
      expect([status, text.includes('<img')]).toEqual([403, false]);
    }
    for (const query of ['', '?of=']) expect((await get(`${url}/erase${query}`)).status).toBe(403);
    for (const query of ['?of=1&of=2', '?of[a]=1']) {
      const { status, text } = await get(`${url}/erase${query}`);
      expect([status, text.startsWith('<!doctype html>')]).toEqual([400, true]);
    }
    expect(await held(other)).toEqual(['alpha']);
  });

  it('names the category and the server of a page about several, as text', async () => {
    const other = { ...who, guild_id: subject().guild_id };
    await bot.hasConsent(other);
    await bot.hasData(other, 'alpha', { value: 'other' });
    await bot.put('/data/categories/alpha', { label_en: HOSTILE });
    await bot.post('/servers/register', { guild_id: other.guild_id, name: 'Tea & <b>cake' });
    const url = await linked({ scope: 'all_guilds' }, { user_id: who.user_id });
    const page = await get(confirming(url, 'alpha', other.guild_id));
    expect(page.text).toContain('Server Tea &amp; &lt;b&gt;cake');
    expect(page.text).not.toMatch(/<img|<b>/);
    await send(url, 'erase', forms(page, 'erase')[0]!);
    expect([await held(), await held(other)]).toEqual([['alpha', 'beta'], []]);
  });

  it('of a withdrawn category erases now what was due later, and of a suspended bot too', async () => {
    await bot.post('/consents/revoke', who);
    await service.app.get(BotAdministration, { strict: false }).suspend(bot.id);
    const url = await linked();
    expect((await get(confirming(url, 'alpha'))).text).not.toContain('Your consent stays');
    await send(url, 'erase', await formOf(url, 'alpha'));
    expect(await held()).toEqual(['beta']);
  });

  it('of a user who was erased meanwhile is a page of a link that has ended', async () => {
    const url = await linked();
    const form = await formOf(url, 'alpha');
    await act(url, 'forget', 0, '/forget');
    expect((await send(url, 'erase', form)).status).toBe(404);
  });
});
