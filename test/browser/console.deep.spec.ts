import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { Client } from '../support/client';
import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { freePort } from '../support/free-port';
import { useReceiver } from '../support/receiver';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const FIRST_LOAD_MAX_BYTES = 150 * 1024;
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
const PAGES = ['', 'users', 'categories', 'audit', 'webhooks', 'keys', 'reports'];

const team = useConsole({ WEBHOOK_RETRY_SCHEDULE: '1h,1h' });
const { service } = team;
const receiver = useReceiver();
let bot: Bot;
let user: SubjectIds;

describeInBrowser('the console in a browser', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
    const field = { key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day' };
    const labels = { label_de: 'Geburtstag', label_en: 'Birthday' };
    await bot.post('/data/register', {
      ...{ key: 'birthday', ...labels, legal_basis: 'consent' },
      ...{ description_de: 'Um zu gratulieren', description_en: 'To congratulate members' },
      ...{ retention_days: 365, fields: [field] },
    });
    await bot.post('/consents/texts', {
      ...{
        consent_version: '1.0',
        language: 'en',
        title: 'May we keep your birthday?',
        jurisdiction: 'Germany',
      },
      body: 'We store your birthday to congratulate you.',
    });
    for (let n = 0; n < 3; n++) {
      user = subject();
      await bot.hasConsent(user);
      await bot.hasData(user, 'birthday', { day: `1 May, no. ${n}` });
    }
  });

  /** The page of a team that has signed in. */
  const signedIn = (view: View = DESKTOP, key = bot.key): Promise<Page> => team.signsIn(key, { view });

  const toPage = async (page: Page, name: string): Promise<void> => {
    const menu = page.locator('button.menu');
    if (await menu.isVisible()) await menu.click();
    await page.click(`nav a[href="/console/${name}"]`);
    await page.waitForSelector(`nav a[href="/console/${name}"][aria-current=page]`, { state: 'attached' });
    await page.waitForSelector('.loading', { state: 'detached' });
  };

  async function find(page: Page, { user_id, guild_id }: SubjectIds): Promise<void> {
    await toPage(page, 'users');
    await page.fill('input[type=search]', `${guild_id}/${user_id}`);
    await page.press('input[type=search]', 'Enter');
    await page.waitForSelector('.facts');
  }

  it('loads at most 150 KB, compressed, before its first page', () => {
    const files = readdirSync(team.folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(team.folder, name),
    );
    const sizes = files
      .filter((path) => statSync(path).isFile())
      .map((path) => gzipSync(readFileSync(path)).byteLength);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD_MAX_BYTES);
  });

  it.each([
    ['in English, light, on a wide screen', DESKTOP],
    ['in German, dark, 320 px wide', PHONE],
  ])('shows every page %s, and each is accessible', async (_, view) => {
    const page = await signedIn(view);
    for (const path of PAGES) {
      await toPage(page, path);
      if (path === '') await page.waitForSelector('.chart canvas');
      expect([path, await team.accessibility()]).toStrictEqual([path, []]);
      await pictured(page, `console-${path === '' ? 'overview' : path}`, view, false);
    }
    await find(page, user);
    expect(await team.accessibility()).toStrictEqual([]);
    await page.click('button.danger');
    await page.waitForSelector('dialog[open]');
    expect(await team.accessibility()).toStrictEqual([]);
  });

  it('closes the menu of a phone by Escape, and gives its button the focus', async () => {
    const page = await signedIn(PHONE);
    const menu = page.locator('button.menu[aria-expanded=false]');
    await menu.click();
    await page.locator('nav a').first().focus();
    await page.keyboard.press('Escape');
    await page.waitForSelector('button.menu:focus[aria-expanded=false]');
  });

  it('shows a user, the values only when they are asked for, with an event, and erases with a typed confirmation', async () => {
    const page = await signedIn();
    await find(page, user);
    expect(await page.textContent('main')).not.toContain('1 May, no.');
    expect(await bot.eventTypes(user)).not.toContain('data_exported');
    await page.getByRole('button', { name: 'Show values' }).click();
    await page.waitForSelector('text=1 May, no. 2');
    expect(await bot.eventTypes(user)).toContain('data_exported');
    await page.getByRole('button', { name: 'Erase in this server' }).click();
    const confirm = page.locator('dialog button.danger');
    expect(await confirm.isDisabled()).toBe(true);
    await page.fill('dialog input', user.guild_id);
    await confirm.dblclick();
    await page.waitForSelector('text=The user is erased.');
    expect((await bot.export(user)).status).toBe(404);
    expect((await bot.eventTypes(user)).filter((type) => type === 'deletion_completed')).toHaveLength(1);
    // A step back shows nothing that was shown before.
    // The salt, without which the page is not left without a question.
    await Promise.all([page.waitForEvent('download'), page.locator('.erased li > button').click()]);
    await toPage(page, 'audit');
    await page.goBack();
    expect(await page.textContent('main')).not.toContain('1 May, no.');
  });

  it.each([
    ['in English', DESKTOP, 'No such page', 'Overview'],
    ['in German, on a phone', PHONE, 'Seite nicht gefunden', 'Übersicht'],
  ] as const)(
    'says that there is no page at an address, and leads to the first one, %s',
    async (_, view, title, first) => {
      const page = await team.signsIn(bot.key, { view });
      await page.goto(`${service.url}/console/nowhere`);
      await page.waitForSelector(`h1:has-text("${title}")`);
      expect(await page.locator('nav [aria-current]').count()).toBe(0);
      expect(await team.accessibility()).toStrictEqual([]);
      await page.locator('main').getByRole('link', { name: first }).click();
      await page.waitForSelector(`h1:has-text("${first}")`);
    },
  );

  it('leads from a page of another session to the first one, once the team has signed in', async () => {
    const page = await team.signsIn(bot.key, { address: '/ledger' });
    expect(await page.textContent('h1')).toBe('Overview');
    expect(new URL(page.url()).pathname).toBe('/console/');
    await page.goBack();
    expect(page.url()).toBe('about:blank');
  });

  it('breaks no word of a heading 375 px wide', async () => {
    const page = await team.signsIn(bot.key, { address: '/notice', view: { ...PHONE, width: 375 } });
    const lines = await page.evaluate<number>(`{
      const h1 = document.querySelector('h1');
      Math.round(h1.getBoundingClientRect().height / parseFloat(getComputedStyle(h1).lineHeight));
    }`);
    expect(lines).toBe(1);
  });

  it('withdraws a consent', async () => {
    const page = await signedIn();
    await find(page, user);
    await page.getByRole('button', { name: 'Withdraw consent' }).click();
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('.facts .badge.revoked');
    expect(await bot.eventTypes(user)).toContain('consent_revoked');
  });

  it('says when a user has declined', async () => {
    const declining = subject();
    await bot.hasRequest(declining);
    await bot.post('/consents/decline', declining);
    const page = await signedIn();
    await find(page, declining);
    await page.waitForSelector('.facts .badge.none');
    expect(await page.textContent('.facts .badge')).toBe('declined');
    // The list says the same.
    await toPage(page, 'users');
    await page.waitForSelector('.badge[title=declined]');
    await page.goBack();
    await page.waitForSelector('.facts .badge.none');
    expect(await page.textContent('.facts')).toMatch(/Declined on\d/);
  });

  it.each([
    ['on a wide screen', DESKTOP, ['Send a test call', 'Try now', 'Send again']],
    [
      'in German, 360 px wide',
      { ...PHONE, width: 360 },
      ['Testaufruf senden', 'Jetzt versuchen', 'Erneut senden'],
    ],
  ] as const)(
    'says what became of a call, and shows its attempts under it, %s',
    async (_, view, [send, now, again]) => {
      receiver.reset();
      receiver.status = 500;
      await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
      await bot.post('/consents/revoke', user);
      type Deliveries = { deliveries: { last_outcome: string | null }[] };
      await until(async () => {
        const { data } = await bot.get<Deliveries>('/webhooks/deliveries');
        return data.deliveries[0]?.last_outcome === 'refused';
      });
      const closed = `127.0.0.1:${await freePort()}`;
      const page = await signedIn(view);
      await toPage(page, 'webhooks');
      await page.getByRole('button', { name: now }).click();
      expect(await page.textContent('td.below .notice.bad')).toMatch(/ · Status 500 · [\d.,]+ ms · /);
      receiver.status = 204;
      await page.getByRole('button', { name: now }).click();
      expect(await page.textContent('td.below .notice.good')).toMatch(
        /^(Delivered|Zugestellt) · .* · Status 204 · [\d.,]+ ms$/,
      );
      await page.getByRole('button', { name: again }).waitFor();
      await page.waitForSelector('tbody tr + tr > td.below [title=confirmed]');
      expect(await page.locator('td.below tbody [title=refused]').count()).toBe(2);
      await bot.put(`/bots/${bot.id}`, { webhook_url: `http://${closed}/hook` });
      await page.getByRole('button', { name: send }).click();
      const outcome = await page.textContent('main > [role=status] .notice.bad');
      const [what, host, time] = outcome?.split(' · ') ?? [];
      expect(what).toMatch(/^(Not delivered: connection refused|Nicht zugestellt: Verbindung abgelehnt)/);
      expect([host, time]).toEqual([closed, expect.stringMatching(/^[\d.,]+ ms$/)]);
      expect(await page.textContent('td.below .notice')).toContain(` · ${new URL(receiver.url).host} · `);
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, `console-webhook-outcome-${view.language}-${view.width}`, undefined, false);
    },
  );

  it('makes a key, shows it once, and deletes it', async () => {
    const page = await signedIn();
    await toPage(page, 'keys');
    await page.getByRole('button', { name: 'Create key' }).dblclick();
    const made = (await page.textContent('.notice.good code')) ?? '';
    expect((await new Client(service.url, made).get('/bots/me')).status).toBe(200);
    await page.waitForSelector('tbody tr:nth-child(2)');
    expect(await page.locator('tbody tr').count()).toBe(2);
    const row = page.locator('tbody tr', { hasText: made.slice(0, 14) });
    await row.getByRole('button').click();
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('tbody tr:nth-child(2)', { state: 'detached' });
    expect((await new Client(service.url, made).get('/bots/me')).status).toBe(401);
  });

  it('shows a key with the scope read, and nothing that it could not do', async () => {
    const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const page = await signedIn(DESKTOP, data.api_key as string);
    await find(page, user);
    expect(await page.getByRole('button', { name: /Erase|Withdraw/ }).count()).toBe(0);
    await toPage(page, 'keys');
    await page.waitForSelector('tbody tr:nth-child(2)');
    expect(await page.locator('main button:enabled:not(.screen)').count()).toBe(0);
  });

  it('ends the session when its key goes, and forgets what it showed', async () => {
    const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read', 'write'] });
    const page = await signedIn(DESKTOP, data.api_key as string);
    await find(page, user);
    await bot.delete(`/bots/${bot.id}/keys/${data.id as string}`);
    await page.click('nav a[href="/console/audit"]');
    await page.waitForSelector('text=Your session has ended');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.waitForSelector('input[type=password]');
    expect(await page.content()).not.toContain(user.user_id);
  });

  it('signs out, and keeps no key where a script can read it', async () => {
    const page = await signedIn();
    const readable = await page.evaluate(
      'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })',
    );
    expect(readable).not.toContain(bot.key?.slice(10));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForSelector('input[type=password]');
    await page.goto(`${service.url}/console/audit`);
    await page.waitForSelector('input[type=password]');
  });

  /** Signs in at the page for it, as a bot does after another one. */
  async function signsIn(page: Page, key = ''): Promise<void> {
    await page.fill('input[type=password]', key);
    await page.press('input[type=password]', 'Enter');
    await page.waitForSelector('.side');
  }

  it('shows the bot that signs in after another one its own keys', async () => {
    const other = await service.registerBot({ name: 'Poll bot' });
    const page = await signedIn();
    await toPage(page, 'keys');
    await page.waitForSelector('main tbody code');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signsIn(page, other.key);
    await page.waitForSelector('main tbody code, main [role=alert]');
    expect(await page.locator('main [role=alert]').count()).toBe(0);
    expect(await page.textContent('main tbody')).toContain(other.key?.slice(0, 14));
  });

  it('ends the session of a tab when another one signs in as another bot, and acts on neither', async () => {
    const other = await service.registerBot({ name: 'Poll bot' });
    for (const each of [bot, other]) await each.hasCategory('extra');
    const page = await team.signsIn(bot.key, { address: '/categories/extra' });
    const second = await page.context().newPage();
    await second.goto(`${service.url}/console`);
    await signsIn(second, other.key);
    await page.getByRole('button', { name: 'Remove this category …' }).click();
    await page.fill('dialog input', 'extra');
    await page.locator('dialog button.danger').click();
    await page
      .getByText('Your session has ended')
      .or(page.locator('a[href="/console/new-text"]').first())
      .waitFor();
    for (const each of [bot, other]) expect((await each.get('/data/categories/extra')).status).toBe(200);
    await second.click('nav a[href="/console/categories"]');
    await second.waitForSelector('main a[href="/console/categories/extra"]');
  });

  it('says that it has not signed out where the service does not answer or refuses, and stays', async () => {
    const page = await signedIn();
    const signOut = page.getByRole('button', { name: 'Sign out' });
    const isKept = async (): Promise<void> => {
      const said = page.getByText('You are not signed out');
      await said.or(page.locator('input[type=password]')).waitFor();
      expect(await said.count()).toBe(1);
    };
    await page.context().setOffline(true);
    await signOut.click();
    await isKept();
    await page.context().setOffline(false);
    await page.reload();
    await page.waitForSelector('.side');
    await page.route('**/console/session', (route) => route.fulfill({ status: 503, body: '{}' }));
    await signOut.click();
    await isKept();
    expect(await team.accessibility()).toStrictEqual([]);
    await page.unroute('**/console/session');
    await signOut.click();
    await page.waitForSelector('input[type=password]');
  });

  it('keeps the session of a tab that is loaded anew, on the same page', async () => {
    const page = await signedIn();
    await toPage(page, 'webhooks');
    await page.reload();
    await page.waitForSelector('nav a[href="/console/webhooks"][aria-current=page]');
  });

  it('says what is wrong with a key, and that the service is away', async () => {
    const page = await team.comes();
    await page.goto(`${service.url}/console`);
    await page.fill('input[type=password]', 'sk_live_wrong');
    await page.press('input[type=password]', 'Enter');
    await page.waitForSelector('text=This key is not valid');
    expect(await team.accessibility()).toStrictEqual([]);
    await page.context().setOffline(true);
    await page.press('input[type=password]', 'Enter');
    await page.waitForSelector('text=The service does not answer');
  });

  it('shows hostile names, values, texts and labels as text', async () => {
    const hostile = await service.registerBot({ name: HOSTILE });
    const field = { key: 'f', type: 'json', label_de: HOSTILE, label_en: HOSTILE };
    await hostile.post('/data/register', {
      ...{ key: 'c', label_de: HOSTILE, label_en: HOSTILE, description_en: HOSTILE, legal_basis: 'consent' },
      fields: [field],
    });
    await hostile.post('/consents/texts', {
      ...{ consent_version: '1.0', language: 'en', title: HOSTILE, body: HOSTILE, jurisdiction: HOSTILE },
    });
    const who = subject();
    await hostile.hasConsent(who);
    await hostile.hasData(who, 'c', { f: { [HOSTILE]: [HOSTILE, null, 'W'.repeat(10_000)] } });
    await hostile.post('/audit/event', {
      ...who,
      event_type: 'data_exported',
      details: { [HOSTILE]: HOSTILE },
    });
    const page = await signedIn(PHONE, hostile.key);
    for (const path of PAGES) await toPage(page, path);
    await find(page, who);
    await page.getByRole('button', { name: 'Werte zeigen' }).click();
    await page.waitForSelector('.nested');
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(await team.accessibility()).toStrictEqual([]);
  });

  it('is shown in no frame of another page', async () => {
    const page = await team.comes();
    await page.goto(`${service.url}/health/live`);
    await page.setContent(`<iframe src="${service.url}/console"></iframe>`);
    // The browser reports the policy that has kept the page out of the frame.
    const { faults } = team.watched!;
    await until(() => faults.length > 0);
    expect(faults.splice(0)).toEqual([expect.stringContaining('frame-ancestors')]);
    const framed = page.frames().at(-1);
    expect(await framed?.locator('form').count()).toBe(0);
  });
});
