import { readFileSync } from 'node:fs';
import { BOT_WIDE_GUILD_ID } from '@app/kernel';
import type { Download, Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { useReceiver } from '../support/receiver';
import { snowflake, type SubjectIds, subject } from '../support/snowflakes';

const HOSTILE = `"><img src=x onerror=alert(1)>`;
const VALUE = '1 May, a Friday';
const LONG_LABEL = 'Wie oft du in den Kanälen dieses Servers in den letzten dreißig Tagen erwähnt wurdest';

/** Runs before the scripts of a page: while it holds, no frame is drawn and no timer ends, as on a busy computer. */
const HOLDING = `{
  const { setTimeout: later, requestAnimationFrame: inFrame } = globalThis;
  const held = [];
  let isHeld = false;
  globalThis.setTimeout = (run, ms, ...given) => (isHeld ? -held.push(() => run(...given)) : later(run, ms, ...given));
  globalThis.requestAnimationFrame = (run) => (isHeld ? -held.push(() => run(0)) : inFrame(run));
  globalThis.holds = (to) => {
    isHeld = to;
    if (!isHeld) for (const run of held.splice(0)) run();
  };
}`;

const team = useConsole({ RATE_LIMIT_CONSOLE: '10000' });
const { service } = team;
const receiver = useReceiver();
let bot: Bot;
let garden: string;
let user: SubjectIds;

describeInBrowser('the users of the console', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
    await bot.hasCategory('birthday', [
      { key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day of birth' },
    ]);
    garden = snowflake();
    await bot.post('/servers/register', { guild_id: garden, name: 'Garden of Ada' });
    user = { user_id: snowflake(), guild_id: garden };
    await bot.hasConsent(user);
    await bot.hasData(user, 'birthday', { day: VALUE });
  });

  /** The page at an address of the console, after the team has signed in there. */
  const at = (address: string, view: View = DESKTOP, key = bot.key): Promise<Page> =>
    team.signsIn(key, { address, view });

  const pathOf = ({ user_id, guild_id }: SubjectIds): string => `/users/${guild_id}/${user_id}`;
  const shown = (page: Page): Promise<string[]> =>
    page.locator('tbody tr td:first-child a').allTextContents();
  const readOnlyKey = async (): Promise<string> =>
    (await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] })).data.api_key as string;
  const saved = async (page: Page, act: () => Promise<void>): Promise<Record<string, unknown>> => {
    const [file] = await Promise.all([page.waitForEvent('download'), act()]);
    return contentOf(file);
  };

  const selectOf = (page: Page, label: string) =>
    page.locator('label', { hasText: new RegExp(`^${label}`) }).locator('select');

  async function choose(page: Page, label: string, option: string): Promise<void> {
    await selectOf(page, label).selectOption({ label: option });
    await page.waitForSelector('[aria-busy=true]', { state: 'detached' });
  }

  describe('in a list', () => {
    it('are shown without an id typed, by names, labels and words, and lead to their pages', async () => {
      const page = await at('/users');
      const row = page.locator('tbody tr');
      // The list and the names of the servers are two answers.
      await row.getByText('Garden of Ada').waitFor();
      const text = await row.textContent();
      expect(text).toContain('accepted');
      expect(text).toMatch(/just now|second|minute/);
      await page.getByRole('link', { name: user.user_id }).click();
      await page.waitForSelector('.facts');
      expect(new URL(page.url()).pathname).toBe(`/console${pathOf(user)}`);
      expect(await page.title()).toContain(user.user_id);
    });

    it('are filtered by server, status and category, and the way back and a bookmark keep the filter', async () => {
      const asked = subject();
      await bot.hasRequest(asked);
      const page = await at('/users');
      await page.waitForSelector('tbody tr:nth-child(2)');
      await choose(page, 'Status', 'asked');
      await page.waitForSelector('tbody tr:nth-child(2)', { state: 'detached' });
      expect(await shown(page)).toEqual([asked.user_id]);
      await choose(page, 'Server', 'Garden of Ada');
      await page.waitForSelector('text=No user passes these filters');
      await page.goBack();
      await page.waitForSelector('tbody tr');
      expect(await shown(page)).toEqual([asked.user_id]);
      expect(new URL(page.url()).search).toBe('?status=pending');
      await page.reload();
      await page.waitForSelector('tbody tr');
      expect(await shown(page)).toEqual([asked.user_id]);
      await page.goto(`${service.url}/console/users?server=${garden}&category=birthday`);
      await page.waitForSelector('tbody tr');
      expect(await shown(page)).toEqual([user.user_id]);
      expect(await selectOf(page, 'Category').inputValue()).toBe('birthday');
    });

    it('are found by what was typed before the page was done', async () => {
      const typed = `${garden}/${user.user_id}`;
      const page = await team.signsIn(bot.key, { script: HOLDING });
      await page.evaluate('holds(true)');
      await page.click('nav a[href="/console/users"]');
      await page.fill('input[type=search]', typed);
      expect(await page.inputValue('input[type=search]')).toBe(typed);
      await page.evaluate('holds(false)');
      await page.press('input[type=search]', 'Enter');
      await page.waitForSelector('.facts');
    });

    it('are found by a pair of ids in either order, also before the servers are loaded', async () => {
      const page = await team.comes();
      let answer = (): void => undefined;
      const asked = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/api/v1/servers?**', (route) => asked.then(() => route.continue()));
      await page.goto(`${service.url}/console/users`);
      await page.fill('input[type=password]', bot.key ?? '');
      await page.press('input[type=password]', 'Enter');
      await page.fill('input[type=search]', `${user.user_id} ${garden}`);
      await page.press('input[type=search]', 'Enter');
      answer();
      await page.waitForURL('**/users/*/*');
      expect(new URL(page.url()).pathname).toBe(`/console${pathOf(user)}`);
      await page.waitForSelector('.facts');
    });

    it('are found by an id, and by a pair of ids at once', async () => {
      const other = { user_id: user.user_id, guild_id: snowflake() };
      await bot.hasConsent(other);
      await bot.hasConsent(subject());
      const page = await at('/users');
      await page.getByRole('searchbox').fill(` ${user.user_id} `);
      await page.press('input[type=search]', 'Enter');
      await page.waitForSelector('tbody tr:nth-child(3)', { state: 'detached' });
      expect(await shown(page)).toEqual([user.user_id, user.user_id]);
      const pairs = [
        `${service.url}/console${pathOf(user)}`,
        `${user.user_id} ${garden}`,
        `{"user_id": "${user.user_id}", "guild_id": "${garden}"}`,
      ];
      for (const pair of pairs) {
        await page.goto(`${service.url}/console/users`);
        await page.getByRole('searchbox').fill(pair);
        await page.press('input[type=search]', 'Enter');
        await page.waitForSelector('.facts');
        expect(new URL(page.url()).pathname).toBe(`/console${pathOf(user)}`);
      }
    });

    it('are not looked for by what is no id', async () => {
      const page = await at('/users');
      for (const text of ['123', 'somebody', '12345678901234567 1', '123456789012345678901']) {
        await page.goto(`${service.url}/console/users`);
        await page.getByRole('searchbox').fill(text);
        await page.press('input[type=search]', 'Enter');
        await page.waitForSelector('[role=alert]');
        expect([text, await page.textContent('[role=alert]')]).toEqual([
          text,
          expect.stringContaining('17 to 20 digits'),
        ]);
      }
      expect(await team.accessibility()).toStrictEqual([]);
    });

    it('are paged by cursor, forward and back, and a bookmark of a page leads to the first', async () => {
      for (let n = 0; n < 24; n++) await bot.hasRequest(subject());
      const page = await at('/users?order=all');
      await page.waitForSelector('tbody tr:nth-child(20)');
      const first = await shown(page);
      await page.getByRole('button', { name: 'Next' }).click();
      await page.waitForSelector('tbody tr:nth-child(20)', { state: 'detached' });
      const second = await shown(page);
      expect(new Set([...first, ...second]).size).toBe(25);
      await page.reload();
      await page.getByRole('button', { name: 'Previous' }).click();
      await page.waitForSelector('tbody tr:nth-child(20)');
      expect(await shown(page)).toEqual(first);
      await page.goBack();
      await page.waitForSelector('tbody tr:nth-child(20)', { state: 'detached' });
      await page.goto(page.url());
      const bookmark = page.url();
      await page.goto('about:blank');
      await page.goto(bookmark);
      await page.getByRole('button', { name: 'First page' }).click();
      await page.waitForSelector('tbody tr:nth-child(20)');
    });

    it('are none at first, and the page says when there will be one', async () => {
      const fresh = await service.registerBot();
      const page = await at('/users', DESKTOP, fresh.key);
      await page.getByRole('link', { name: 'Show all users' }).click();
      await page.waitForSelector('text=once your bot asks for consent');
      expect(await team.accessibility()).toStrictEqual([]);
    });
  });

  describe('each on a page', () => {
    it.each([
      ['in English, light, 1280 px wide', DESKTOP],
      ['in German, dark, 320 px wide', PHONE],
      ['in German, light, 360 px wide', { ...PHONE, scheme: 'light', width: 360 } as const],
    ])('is shown %s, accessible', async (_, view) => {
      await bot.hasConsent({ ...user, guild_id: snowflake() });
      const name = `${view.language}-${view.scheme}-${view.width}`;
      const page = await at('/users', view);
      await page.waitForSelector('tbody tr');
      expect(await team.accessibility()).toStrictEqual([]);
      await page.goto(`${service.url}/console${pathOf(user)}`);
      await page.waitForSelector('.facts');
      await page.waitForSelector('.loading', { state: 'detached' });
      await pictured(page, `console-user-${name}`);
      await page.locator('.actions .primary').click();
      await page.waitForSelector('.loading', { state: 'detached' });
      expect(await team.accessibility()).toStrictEqual([]);
      await page.locator('.erasures .danger').last().click();
      await page.waitForSelector('dialog[open]');
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, `console-user-erase-${name}`);
    });

    it('shows history, events, calls and other servers, and the values under labels only when asked', async () => {
      receiver.reset();
      await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
      const other = { user_id: user.user_id, guild_id: snowflake() };
      await bot.hasConsent(other);
      await bot.hasRevoked(other);
      const page = await at(pathOf(user));
      await page.waitForSelector('.facts');
      await page.waitForSelector('[title=data_submitted]');
      await page.waitForSelector('[title=consent_revoked]');
      expect(await page.textContent('main')).not.toContain(VALUE);
      await page.getByRole('button', { name: 'Show values' }).click();
      await page.waitForSelector(`text=${VALUE}`);
      await page.locator('.values').getByText('Day of birth').waitFor();
      expect(await bot.eventTypes(user)).toContain('data_exported');
      await page.getByRole('link', { name: other.guild_id }).click();
      await page.waitForSelector('.facts .badge.revoked');
      expect(await page.textContent('main')).not.toContain(VALUE);
    });

    it('shows values in words, beside long labels, with their lines and what is nested in them', async () => {
      const types = {
        word: 'string',
        rtl: 'string',
        times: 'string',
        vip: 'boolean',
        day: 'date',
        none: 'string',
        raw: 'json',
      };
      await bot.hasCategory(
        'profile',
        Object.entries(types).map(([key, type]) => {
          const label = key === 'times' ? LONG_LABEL : key;
          return { key, type, label_de: label, label_en: label };
        }),
      );
      await bot.hasData(user, 'profile', {
        ...{
          word: 'one\ntwo',
          rtl: 'واحد\ntwo.',
          times: 'Zwölfmal',
          vip: false,
          day: '2000-02-29',
          none: '',
        },
        raw: { a: [1, { b: 'deep' }], empty: [], n: null },
      });
      const page = await at(pathOf(user), { ...DESKTOP, width: 1000 });
      await page.getByRole('button', { name: 'Show values' }).click();
      const values = page.locator('.values', { hasText: 'vip' }).locator('> dl > div');
      const shownOf = (key: string) =>
        values.filter({ has: page.locator(`dt[title=${key}]`) }).locator('> dd');
      expect(await shownOf('word').innerText()).toBe('one\ntwo');
      expect((await shownOf('times').boundingBox())?.width).toBeGreaterThan(120);
      // A full stop is at the end of its line in English, whatever the line before is in.
      const [line, end] = await page.evaluate<[number, number]>(
        `['t', '.'].map((of) => {
          const text = document.querySelector('dt[title=rtl] + dd bdi').firstChild;
          const range = document.createRange();
          range.setStart(text, text.data.indexOf(of));
          range.setEnd(text, range.startOffset + 1);
          return range.getBoundingClientRect().left;
        })`,
      );
      expect(end).toBeGreaterThan(line);
      expect(await shownOf('vip').innerText()).toBe('no');
      expect(await shownOf('day').innerText()).toBe('29 Feb 2000');
      expect(await shownOf('none').innerText()).toBe('no value');
      expect(await shownOf('raw').getByText('no value').count()).toBe(2);
      expect(await shownOf('raw').locator('li dl').innerText()).toMatch(/^b\s+deep$/);
      const left = async (text: string) =>
        (await shownOf('raw').getByText(text, { exact: true }).boundingBox())?.x ?? 0;
      expect(await left('b')).toBeGreaterThan((await left('a')) + 16);
      expect(await team.accessibility()).toStrictEqual([]);
    });

    it('has no table that is wider than its place, and words for what the service writes', async () => {
      receiver.reset();
      await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
      const name = 'Gaming-Gemeinschaft der Oberdonaudampfschifffahrt';
      await bot.post('/servers/register', { guild_id: garden, name });
      await bot.hasConsent({ ...user, guild_id: snowflake() });
      await bot.get(`/data/export/${user.user_id}?scope=all_guilds&format=full`);
      await bot.hasRevoked(user);
      const page = await at(pathOf(user), { ...DESKTOP, language: 'de' });
      await page.getByRole('region', { name: 'Webhook-Aufrufe zu dieser Person' }).waitFor();
      await page.locator('[title=data_exported]').first().waitFor();
      const wide = await page.evaluate<string[]>(
        '[...document.querySelectorAll(`.user .scroll`)].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)',
      );
      expect(await page.locator('.user .scroll').count()).toBeGreaterThan(2);
      expect(wide).toEqual([]);
      await page.getByText('Format: alles · Umfang: alle Server').first().waitFor();
    });

    it('has the erasures at its end, and its other acts where they belong', async () => {
      await bot.hasConsent({ ...user, guild_id: snowflake() });
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Erase in all servers' }).waitFor();
      const names = (within: string) => page.locator(`${within} button:not(.copy)`).allTextContents();
      expect(await names('.actions')).toEqual([
        'Privacy link',
        'Download export',
        'Objection or restriction',
      ]);
      expect(await names('section > .head')).toEqual(['Withdraw consent']);
      expect(await names('aside')).toEqual(['Export of all servers']);
      expect(await names('.user > :last-child')).toEqual(['Erase in this server', 'Erase in all servers']);
    });

    it('has names of any length on a phone: the sign to refresh is beside the title, no link of the menu is seen', async () => {
      const label = 'Ein langer Name einer Kategorie '.repeat(4).trim();
      await bot.put(`/bots/${bot.id}`, { name: 'Ein langer Name '.repeat(6).trim() });
      await bot.hasCategory('long', undefined, { label_de: label });
      const page = await at('/categories/long', PHONE);
      await page.waitForSelector(`h1:has-text("${label}")`);
      const [title, refresh, skip, brand] = await Promise.all(
        ['h1', '.head .refresh', '.skip', '.brand'].map((of) => page.locator(of).boundingBox()),
      );
      expect(refresh?.y).toBe(title?.y);
      expect((skip?.x ?? 0) + (skip?.width ?? 0)).toBeLessThanOrEqual(0);
      expect(brand?.height).toBeLessThan(60);
      expect(await team.accessibility()).toStrictEqual([]);
    });

    it('says that nothing is stored, and offers no act', async () => {
      const nobody = subject();
      const page = await at(pathOf(nobody));
      await page.waitForSelector('text=Nothing is stored about this user');
      expect(await page.locator('main .actions button, main section').count()).toBe(0);
      expect(await page.title()).toContain(nobody.user_id);
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-user-nothing');
    });

    it('says that an address needs ids', async () => {
      const hostile = '12345678901234567/%22%3E%3Cimg%20src=x%3E';
      const page = await at(`/users/${hostile}`);
      for (const ids of [hostile, '1/2', '12345678901234567/x']) {
        if (ids !== hostile) await page.goto(`${service.url}/console/users/${ids}`);
        await page.waitForSelector('[role=alert]');
        expect([ids, await page.textContent('[role=alert]')]).toEqual([
          ids,
          expect.stringContaining('17 to 20 digits'),
        ]);
        expect(await page.locator('img[src=x]').count()).toBe(0);
      }
    });

    it('shows a read-only key no form, and values only when asked', async () => {
      const page = await at(pathOf(user), DESKTOP, await readOnlyKey());
      await page.waitForSelector('.facts');
      await page.waitForSelector('[title=data_submitted]');
      expect(await page.locator('main form').count()).toBe(0);
      expect(await page.getByRole('button', { name: /Erase|Withdraw|link/i }).count()).toBe(0);
      await page.waitForSelector('text=Your key lacks the scopes write and erase');
      expect(await page.textContent('main')).not.toContain(VALUE);
    });

    it('is nothing that the page to sign in shows, once the session has ended', async () => {
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
      const page = await at(pathOf(user), DESKTOP, data.api_key as string);
      await page.waitForSelector('.facts');
      await bot.delete(`/bots/${bot.id}/keys/${data.id as string}`);
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByRole('button', { name: 'Sign in again' }).click();
      await page.waitForSelector('text=Your session has ended');
      await page.waitForSelector('input[type=password]');
      expect(await page.content()).not.toContain(user.user_id);
    });

    it('shows hostile names and values as text, and asks for the id of a server that has no name to type', async () => {
      const [typable, blank] = [snowflake(), snowflake()];
      await bot.post('/servers/register', { guild_id: typable, name: HOSTILE });
      await bot.post('/servers/register', { guild_id: blank, name: 'A \u202e  B' });
      for (const guild_id of [typable, blank]) await bot.hasConsent({ ...user, guild_id });
      await bot.hasData({ ...user, guild_id: typable }, 'birthday', { day: HOSTILE });
      const page = await at(pathOf({ ...user, guild_id: typable }), PHONE);
      await page.getByRole('button', { name: 'Werte zeigen' }).click();
      await page.waitForSelector('.values .nested');
      await page.getByRole('button', { name: 'Auf diesem Server löschen' }).click();
      await page.locator('dialog label', { hasText: HOSTILE }).waitFor();
      expect(await page.locator('img[src=x]').count()).toBe(0);
      expect(await team.accessibility()).toStrictEqual([]);
      await page.goto(`${service.url}/console${pathOf({ ...user, guild_id: blank })}`);
      await page.getByRole('button', { name: 'Auf diesem Server löschen' }).click();
      expect(await page.textContent('dialog label')).toContain(blank);
    });
  });

  describe('acts', () => {
    it('makes a privacy link once, in the chosen language and for what is chosen, and ends it', async () => {
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Privacy link' }).click();
      await page.getByLabel('Language').last().selectOption('de');
      await page.getByLabel('have it erased').uncheck();
      await page.getByRole('button', { name: 'Make link' }).dblclick();
      await page.waitForSelector('.link .notice code');
      await pictured(page, 'console-user-link');
      expect(await team.accessibility()).toStrictEqual([]);
      const url = (await page.textContent('.link .notice code')) ?? '';
      const opened = await fetch(url);
      const html = await opened.text();
      expect([opened.status, html.includes('lang="de"'), html.includes('löschen lassen')]).toEqual([
        200,
        true,
        false,
      ]);
      await page.getByRole('button', { name: 'End this link' }).click();
      await page.waitForSelector('text=The link has ended');
      expect((await fetch(url)).status).toBe(404);
      const [made] = await Promise.all([
        page.waitForResponse((answer) => answer.url().endsWith('/privacy-links')),
        page.getByRole('button', { name: 'Make link' }).click(),
      ]);
      const { data } = (await made.json()) as { data: { id: string } };
      await bot.delete(`/privacy-links/${data.id}`);
      await page.getByRole('button', { name: 'End this link' }).click();
      const said = page.locator('.link > [role]:not(:has(code))');
      expect(await said.textContent()).toContain('The link has ended');
      await page.getByRole('button', { name: 'Make link' }).click();
      await page.waitForSelector('.link .notice code');
      expect(await page.locator('.link [role=alert]').count()).toBe(0);
      await page.getByRole('button', { name: 'Another link' }).click();
      await page.getByRole('button', { name: 'Make link' }).waitFor();
      expect(await said.count()).toBe(0);
    });

    it('offers in a link what the key may do', async () => {
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read', 'write'] });
      const page = await at(pathOf(user), DESKTOP, data.api_key as string);
      await page.getByRole('button', { name: 'Privacy link' }).click();
      expect(await page.locator('.link input[type=checkbox]').count()).toBe(4);
      await page.getByRole('button', { name: 'Make link' }).click();
      await page.waitForSelector('.link .notice code');
    });

    it('downloads the export of one server, and of all', async () => {
      const other = { user_id: user.user_id, guild_id: snowflake() };
      await bot.hasConsent(other);
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Export of all servers' }).waitFor();
      const one = await saved(page, () => page.getByRole('button', { name: 'Download export' }).click());
      expect(one['guildId']).toBe(garden);
      const all = await saved(page, () =>
        page.getByRole('button', { name: 'Export of all servers' }).click(),
      );
      expect(all['guilds']).toHaveLength(2);
    });

    it('withdraws the consent in the server that the question names', async () => {
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Withdraw consent' }).click();
      await page.locator('dialog h2', { hasText: 'Garden of Ada' }).waitFor();
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('.facts .badge.revoked');
      await page.waitForSelector('text=The consent is withdrawn.');
      expect(await bot.eventTypes(user)).toContain('consent_revoked');
    });

    it('says that a consent has ended elsewhere, and shows it so', async () => {
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Withdraw consent' }).click();
      await bot.post('/consents/revoke', user);
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('dialog [role=alert]');
      expect(await page.textContent('dialog [role=alert]')).toContain('no longer there');
      await pictured(page, 'console-user-ended');
      await page.waitForSelector('.facts .badge.revoked');
      await page.locator('dialog').press('Escape');
      expect(await page.getByRole('button', { name: 'Withdraw consent' }).count()).toBe(0);
      await bot.hasConsent(user);
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByRole('button', { name: 'Withdraw consent' }).click();
      expect(await page.locator('dialog [role=alert]').count()).toBe(0);
    });

    it('withdraws one category of a consent, and says before when and after on which day its values are erased', async () => {
      await bot.hasCategory('notes');
      await bot.hasCategory('levels', undefined, { legal_basis: 'contract' });
      await bot.hasData(user, 'notes', { value: 'a note' });
      const page = await at(pathOf(user));
      const levels = page.locator('.of-consent li', { hasText: 'Category levels' });
      await levels.getByRole('button', { name: 'Withdraw' }).click();
      expect(await page.textContent('dialog [id$="-note"]')).toContain('not consent but contract');
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('text=The consent to “Category levels” is withdrawn.');
      const row = page.locator('.of-consent li', { hasText: 'Category notes' });
      await row.getByRole('button', { name: 'Withdraw' }).click();
      const title = 'Withdraw the consent to “Category notes” in Garden of Ada?';
      await page.locator('dialog h2').getByText(title, { exact: true }).waitFor();
      expect(await page.textContent('dialog [id$="-note"]')).toContain('erased 30 days later');
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-user-withdraw-category');
      await page.locator('dialog button.danger').click();
      await page.waitForSelector(
        'text=The consent to “Category notes” is withdrawn. Its values will be erased on',
      );
      await row.locator('.badge.revoked').waitFor();
      const { data } = await bot.status(user);
      const states = data['categories'] as { key: string; status: string }[];
      expect(data).toMatchObject({ status: 'accepted' });
      expect(Object.fromEntries(states.map(({ key, status }) => [key, status]))).toEqual({
        birthday: 'accepted',
        levels: 'revoked',
        notes: 'revoked',
      });
      expect(await row.getByRole('button', { name: 'Withdraw' }).count()).toBe(0);
      await page.locator('.of-consent').getByRole('button', { name: 'Withdraw' }).click();
      expect(await page.textContent('dialog [id$="-note"]')).toContain('the last category of the consent');
      await page.locator('dialog button.danger').click();
      // The badges of the other categories say that they are revoked already.
      await page.waitForSelector('text=The consent to “Category birthday” is withdrawn.');
      expect((await bot.status(user)).data).toMatchObject({ status: 'revoked' });
    });

    it('erases the values of one category once its key is typed, leaves the consent, and says what was there', async () => {
      await bot.hasCategory('notes');
      await bot.hasData(user, 'notes', { value: 'a note' });
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Show values' }).click();
      await page.waitForSelector('text=a note');
      const erase = page
        .locator('.of-consent li', { hasText: 'Category notes' })
        .getByRole('button', { name: 'Erase values' });
      for (const says of [
        'The values in “Category notes” are erased.',
        'Nothing was stored in “Category notes”.',
      ]) {
        await erase.click();
        expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
        expect(await team.accessibility()).toStrictEqual([]);
        await page.fill('dialog input', 'notes');
        await page.locator('dialog button.danger').click();
        await page.waitForSelector(`text=${says}`);
      }
      expect(await page.textContent('main')).not.toContain('a note');
      const values = `/data/values/${user.user_id}?guild_id=${garden}`;
      expect((await bot.get(values)).data['values']).toStrictEqual({ birthday: { day: VALUE } });
    });

    it('offers withdrawal and erasure to a suspended bot, and says since when one has declined', async () => {
      const declined = { ...user, user_id: snowflake() };
      await bot.post('/consents/decline', { consent_id: await bot.hasRequest(declined) });
      const page = await at(pathOf(declined));
      await page.waitForSelector('dt:has-text("Declined on")');
      await team.service.database.run(
        'UPDATE bots SET suspended_at = ? WHERE id = ?',
        new Date().toISOString(),
        bot.id,
      );
      await page.goto(`${service.url}/console${pathOf(user)}`);
      // Until the bot is loaded, no page knows that it is suspended.
      const isSuspended = page.locator('main > p.notice.bad');
      await isSuspended.waitFor();
      for (const name of ['Withdraw consent', 'Erase values', 'Erase in this server', 'Privacy link'])
        await page.getByRole('button', { name }).waitFor();
      await page.goto(`${service.url}/console/categories`);
      await isSuspended.waitFor();
      await page.waitForSelector('tbody tr');
      expect(await page.getByRole('link', { name: /^New/ }).count()).toBe(0);
    });

    it('erases in this server once its name is typed, keeps the salt, and shows no values after it', async () => {
      const other = { user_id: user.user_id, guild_id: snowflake() };
      await bot.hasConsent(other);
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Show values' }).click();
      await page.waitForSelector(`text=${VALUE}`);
      await page.getByRole('button', { name: 'Erase in this server' }).click();
      const confirm = page.locator('dialog button.danger');
      for (const wrong of ['', user.user_id, 'garden of ada']) {
        await page.fill('dialog input', wrong);
        expect(await confirm.isDisabled()).toBe(true);
      }
      await page.fill('dialog input', 'Garden of Ada');
      await confirm.dblclick();
      await page.waitForSelector('text=The user is erased.');
      await page.waitForSelector('text=Nothing is stored about this user');
      expect(await page.textContent('main')).not.toContain(VALUE);
      expect(await page.getByRole('button', { name: /Show values|Erase|Privacy link/ }).count()).toBe(0);
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-user-erased');
      const file = await saved(page, () =>
        page.getByRole('button', { name: 'Download certificate' }).click(),
      );
      expect(await page.textContent('.erased code')).toBe(file['certificate_salt']);
      expect(file).toMatchObject({ guild_id: garden, certificate: expect.anything() });
      expect((await bot.export(user)).status).toBe(404);
      expect((await bot.export(other)).status).toBe(200);
      expect((await bot.eventTypes(user)).filter((type) => type === 'deletion_completed')).toHaveLength(1);
    });

    it.each([
      [
        { ...DESKTOP, width: 1280 },
        'Erase in the direct messages',
        'in the direct messages?',
        'direct messages',
      ],
      [
        { ...PHONE, width: 390 },
        'In den Direktnachrichten löschen',
        'in den Direktnachrichten löschen?',
        'Direktnachrichten',
      ],
    ])('erases what is of direct messages, and says so: %#', async (view, open, where, typed) => {
      const direct = { user_id: user.user_id, guild_id: BOT_WIDE_GUILD_ID };
      await bot.hasConsent(direct);
      const page = await at(pathOf(direct), view);
      await page.getByRole('button', { name: open }).click();
      expect(await page.innerText('dialog')).toContain(where);
      await pictured(page, 'console-user-direct', view);
      await page.fill('dialog input', typed);
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('.erased code');
      expect(await page.textContent('main')).toContain(typed);
      expect(await page.textContent('main')).not.toMatch(/whole bot|ganze Bot/);
      expect([(await bot.export(direct)).status, (await bot.export(user)).status]).toEqual([404, 200]);
    });

    it('erases in all servers once that is typed, with a certificate for each', async () => {
      const other = { user_id: user.user_id, guild_id: snowflake() };
      await bot.hasConsent(other);
      const page = await at(pathOf(user));
      await page.getByRole('button', { name: 'Erase in all servers' }).click();
      await page.fill('dialog input', 'Garden of Ada');
      expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
      await page.fill('dialog input', 'all servers');
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('text=The user is erased.');
      expect(await page.locator('.erased li').count()).toBe(2);
      for (const ids of [user, other]) expect((await bot.export(ids)).status).toBe(404);
    });

    it('shows the salts of the servers that are done where another one has failed, also after the next try', async () => {
      await bot.hasConsent({ user_id: user.user_id, guild_id: snowflake() });
      const page = await at(pathOf(user));
      const [salt, guild_id] = ['s'.repeat(22), snowflake()];
      const done = { request_id: 'r', guild_id, certificate_salt: salt, status: 'completed' };
      const requests = [{ ...done, completed_at: '2026-01-01T00:00:00Z', deleted_categories: [] }];
      const error = { code: 'internal_error', message: 'Some are done', details: { requests } };
      await page.route('**/gdpr/forget-user', (route) =>
        route.fulfill({ status: 500, json: { success: false, error } }),
      );
      await page.getByRole('button', { name: 'Erase in all servers' }).click();
      await page.fill('dialog input', 'all servers');
      await page.locator('dialog button.danger').click();
      await page.locator('.erased', { hasText: 'has not ended in every server' }).waitFor();
      expect(await page.locator('.erased code').allTextContents()).toContain(salt);
      await page.unroute('**/gdpr/forget-user');
      let answer = (): void => undefined;
      const asked = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/gdpr/forget-user', (route) => asked.then(() => route.continue()));
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('text=The erasure is being requested');
      expect(await page.textContent('.erased')).toContain('has not ended in every server');
      answer();
      await page.waitForSelector('text=The user is erased.');
      await page.waitForSelector('.erased li >> nth=2');
      expect(await page.locator('.erased li').count()).toBe(3);
      expect(await page.locator('.erased code').allTextContents()).toContain(salt);
    });

    it.each([
      ['en', 'not answered yet', 'kept', 'Art. 17(3)(b) GDPR', 'The final certificate is there once'],
      [
        'de',
        'noch keine Antwort',
        'aufbewahrt',
        'Art. 17(3)(b) GDPR',
        'Die abschließende Bescheinigung gibt es',
      ],
    ] as const)(
      'shows in %s what the stores of the bot have answered to an erasure',
      async (language, ...said) => {
        const holder = { kind: 'pull', covers: ['rows'], label_de: HOSTILE, label_en: HOSTILE };
        for (const key of ['archive', 'database']) await bot.post('/holders', { key, ...holder });
        await bot.hasForgotten(user);
        // So many newer events that the erasure is on no first page of them.
        await bot.hasConsent(user);
        for (let n = 0; n < 10; n++) await bot.hasData(user, 'birthday', { day: VALUE });
        const own = { ...user, event_type: 'deletion_completed' };
        for (let n = 0; n < 11; n++) expect((await bot.post('/audit/event', own)).status).toBe(201);
        const { tasks } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/archive/tasks')).data;
        const kept = { basis: said[2], until: '2099-01-01T00:00:00Z' };
        await bot.post(`/holders/archive/tasks/${tasks[0]?.task_id}/acknowledge`, {
          ...{ result: 'kept', counts: { rows: 1 } },
          kept,
        });
        const page = await at(pathOf(user), { ...PHONE, width: 360, language });
        const section = page.locator('section', { hasText: said[3] });
        for (const text of said) await section.getByText(text).first().waitFor();
        expect(await section.locator('li').count()).toBe(2);
        expect(await team.accessibility()).toStrictEqual([]);
        await pictured(page, `console-user-coverage-${language}`);
      },
    );

    it('names an objection and a restriction in the log, and withdraws no category that needs no consent', async () => {
      const reasons = { requires_consent: false, reason_de: 'es sein muss', reason_en: 'it has to be' };
      await bot.hasCategory('stats', undefined, { legal_basis: 'legitimate_interests', ...reasons });
      await bot.post('/data/object', { ...user, category: 'stats' });
      await bot.post('/data/restrict', { ...user, category: 'birthday' });
      await bot.post('/data/unrestrict', { ...user, category: 'birthday' });
      const page = await at(pathOf(user));
      const events = page
        .locator('section', { hasText: 'In the audit log' })
        .locator('tbody td:nth-child(2)');
      await events.first().waitFor();
      expect((await events.allTextContents()).slice(0, 3)).toStrictEqual([
        'restriction ended',
        'restriction',
        'objection',
      ]);
      const stats = page.locator('.of-consent li', { hasText: 'Category stats' });
      expect(await stats.textContent()).toContain('needs no consent');
      expect(await stats.getByRole('button').allTextContents()).toStrictEqual(['Erase values']);
    });

    it('shows of a user who was never asked the categories that need no consent, alone', async () => {
      const reasons = { requires_consent: false, reason_de: 'es sein muss', reason_en: 'it has to be' };
      await bot.hasCategory('stats', undefined, { legal_basis: 'legitimate_interests', ...reasons });
      const other = { ...subject(), guild_id: user.guild_id };
      await bot.hasData(other, 'stats', { value: 'Kim' });
      const page = await at(pathOf(other));
      const categories = page.locator('.of-consent li');
      await categories.first().waitFor();
      expect(await categories.allTextContents()).toStrictEqual([
        'Category stats needs no consentErase values',
      ]);
    });

    it('says of a category that a consent has named before it needed none, that it needs none', async () => {
      await bot.hasCategory('stats', undefined, { legal_basis: 'legitimate_interests' });
      const other = { ...subject(), guild_id: user.guild_id };
      const asked = { ...other, consent_version: '1.0', categories: ['birthday', 'stats'] };
      await bot.post('/consents/request', asked);
      await bot.post('/consents/accept', { ...other, consent_version: '1.0' });
      await bot.post('/consents/revoke', { ...other, categories: ['stats'] });
      const reasons = { requires_consent: false, reason_de: 'es sein muss', reason_en: 'it has to be' };
      expect((await bot.put('/data/categories/stats', reasons)).status).toBe(200);
      const page = await at(pathOf(other));
      const stats = page.locator('.of-consent li', { hasText: 'Category stats' });
      await stats.getByText('needs no consent').waitFor();
      expect(await stats.textContent()).toContain('withdrawn');
      expect(await stats.getByRole('button').allTextContents()).toStrictEqual(['Erase values']);
    });
  });
});

async function contentOf(file: Download): Promise<Record<string, unknown>> {
  return JSON.parse(readFileSync(await file.path(), 'utf8')) as Record<string, unknown>;
}
