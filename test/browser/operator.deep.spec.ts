import { readFileSync } from 'node:fs';
import { Degradations } from '@app/kernel';
import { recordBackup } from '@app/operations';
import { ConsoleFiles } from '@app/pages';
import type { Browser, Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import {
  describeInBrowser,
  DESKTOP,
  PHONE,
  pictured,
  startBrowser,
  type View,
  WatchedPage,
} from '../support/browser';
import { builtConsole } from '../support/built-console';
import { isFull } from '../support/depth';
import { LETHE_MASTER_KEY, Service } from '../support/service';
import { subject } from '../support/snowflakes';
import { ago, amidDay } from '../support/time';

const OPERATOR_TOKEN = 'an-operator-token-'.repeat(3);
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
const PAGES = ['', 'bots', 'health', 'ledger'];
const DAY_MS = 86_400_000;
const SINCE = { en: 'Growth since', de: 'Wachstum seit' };

/** The day of the oldest sample of the last 30 days. */
function monthAgo({ language }: View): string {
  const dates = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : 'de', {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
  return dates.format(new Date(ago(29 * DAY_MS)));
}

/** Behind a proxy an open registration is a fault, on each engine. */
const service = new Service({
  ...{ OPERATOR_TOKEN, LETHE_MASTER_KEY },
  ...{ RATE_LIMIT_OPERATOR: '1000000', TRUST_PROXY: '1' },
  RATE_LIMIT_TIERS: 'free=1000000,standard=2000000,high=3000000',
});
let folder: string;
let browser: Browser;
let bot: Bot;
let watched: WatchedPage;

/** As many days as the plot shows, as if the installation had run for so long. */
async function hasGrown(days: number): Promise<void> {
  await service.database.run('DELETE FROM storage_samples');
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const answer = await service.anonymous.get<{ bytes: number }>('/operator/storage', headers);
  const present = answer.data.bytes;
  for (let past = days; past > 0; past--) {
    const day = ago(past * DAY_MS).slice(0, 10);
    const bytes = Math.round(present * (0.2 + 16 / (past + 20)));
    const sql = 'INSERT INTO storage_samples (day, bytes, bots, users) VALUES (?, ?, ?, ?)';
    await service.database.run(sql, day, bytes, 3, 900 - 9 * past);
  }
}

/** Ends a service, without waiting for the connections that a browser holds in reserve. */
async function end({ app }: Service): Promise<void> {
  const server = app.getHttpServer();
  const cut = setInterval(() => server.closeAllConnections(), 50);
  await app.close().finally(() => clearInterval(cut));
}

describeInBrowser('the pages of the operator in a browser', () => {
  beforeAll(async () => {
    folder = await builtConsole();
    await service.start();
    Object.assign(service.app.get(ConsoleFiles), { folder });
    browser = await startBrowser();
    bot = await service.registerBot({ name: 'Birthday bot' });
    await service.registerBot({ name: 'Quiz bot' });
    await bot.hasCategory('profile');
    for (let n = 0; n < 3; n++) {
      const who = subject();
      await bot.hasConsent(who);
      await bot.hasData(who, 'profile', { value: 'Zebra' });
    }
    await bot.hasForgotten(subject());
    await hasGrown(60);
    const made = { made_at: ago(2 * DAY_MS), directory: folder, bytes: 4_000_000 };
    await recordBackup(service.databasePath, { data: made, keys: made, ledger: made });
    await recordBackup(service.databasePath, { drill: { ...made, ok: true } });
  });
  afterAll(async () => {
    await browser?.close();
    await end(service);
    await service.remove();
  });
  afterEach(async () => {
    const faults = watched.faults.splice(0);
    await watched.page.context().close();
    expect(faults).toStrictEqual([]);
  });

  async function at(view: View, url = service.url): Promise<Page> {
    watched = await WatchedPage.open(browser, url, view);
    await watched.page.goto(`${url}/console`);
    return watched.page;
  }

  async function enter(page: Page, text: string): Promise<void> {
    await page.fill('input[type=password]', text);
    await page.press('input[type=password]', 'Enter');
  }

  async function signedIn(view: View = DESKTOP): Promise<Page> {
    const page = await at(view);
    await enter(page, OPERATOR_TOKEN);
    await page.waitForSelector('.side');
    return page;
  }

  const toPage = async (page: Page, name: string): Promise<void> => {
    const menu = page.locator('button.menu');
    if (await menu.isVisible()) await menu.click();
    const link = `nav a[href="/console/${name}"]`;
    await page.click(link);
    await page.waitForSelector(`${link}[aria-current=page]`, { state: 'attached' });
    await page.waitForSelector('main .loading', { state: 'detached' });
  };

  /** The dialog of an act on a bot, with its typed confirmation. */
  async function act(page: Page, of: Bot, name: string): Promise<void> {
    await page.locator('tbody tr', { hasText: of.platformBotId }).getByRole('button', { name }).click();
    await page.waitForSelector('dialog[open]');
    expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
    const input = page.getByLabel(`Type “${of.platformBotId}” to confirm`);
    expect(await input.getAttribute('aria-describedby')).toMatch(/-note$/);
    await input.fill(of.platformBotId);
    await page.locator('dialog button.danger').dblclick();
    await page.waitForSelector('dialog[open]', { state: 'detached' });
  }

  const submits = async (): Promise<number> =>
    (await bot.post('/consents/request', { ...subject(), consent_version: '1' })).status;

  const views: readonly (readonly [string, View])[] = [
    ['in English, light, on a wide screen', DESKTOP],
    ['in German, dark, 320 px wide', PHONE],
    ['in German, light, on a very wide screen', { scheme: 'light', width: 3840, language: 'de' }],
    ['in English, dark, 360 px wide', { scheme: 'dark', width: 360, language: 'en' }],
  ];
  // The fourth view combines the language of the first with the scheme of the second: the night shows it.
  it.each(isFull ? views : views.slice(0, 3))('are shown %s, and each is accessible', async (_, view) => {
    const degradations = service.app.get(Degradations);
    await amidDay();
    const page = await signedIn(view);
    for (const path of PAGES) {
      await toPage(page, path);
      if (path === '') await page.waitForSelector('.notice.bad a[href="/console/health"]');
      if (path === '') await page.waitForSelector('.chart canvas');
      if (path === '')
        await page.waitForSelector(`.tile:has-text("${SINCE[view.language]} ${monthAgo(view)}")`);
      if (path === 'health') await page.waitForSelector('section.notice');
      expect([path, await watched.accessibility()]).toStrictEqual([path, []]);
      if (view === DESKTOP || view === PHONE)
        await pictured(page, `operator-${path === '' ? 'overview' : path}`, view);
    }
    // No watch ends it: the service has no Redis.
    degradations.note('rate_limit_local', true);
    for (const path of ['', 'health']) {
      await toPage(page, path);
      await page.reload();
      await page.waitForSelector('[title=rate_limit_local]');
      expect(await watched.accessibility()).toStrictEqual([]);
    }
    degradations.note('rate_limit_local', false);
    await toPage(page, 'bots');
    await page.locator('tbody button:not(.copy)').first().click();
    await page.waitForSelector('dialog[open]');
    expect(await watched.accessibility()).toStrictEqual([]);
    if (view === DESKTOP || view === PHONE) await pictured(page, 'operator-confirm', view, false);
  });

  it('begin with the overview where the address is that of a page of a bot', async () => {
    const page = await at(DESKTOP);
    await page.goto(`${service.url}/console/webhooks`);
    await enter(page, OPERATOR_TOKEN);
    await page.waitForSelector('.side');
    expect(await page.textContent('h1')).toBe('Overview');
    expect(new URL(page.url()).pathname).toBe('/console/');
  });

  it('suspend a bot after its typed id, once for two clicks, and resume it', async () => {
    const page = await signedIn();
    await toPage(page, 'bots');
    expect(await submits()).toBe(201);
    await act(page, bot, 'Suspend');
    await page.waitForSelector('text=Birthday bot is suspended.');
    await page.locator('tbody tr', { hasText: bot.platformBotId }).locator('.badge.failing').waitFor();
    expect(await watched.accessibility()).toStrictEqual([]);
    expect(await submits()).toBe(403);
    await toPage(page, '');
    await page.waitForSelector('.tile:has-text("Suspended") >> text="1"');
    await toPage(page, 'bots');
    await act(page, bot, 'Resume');
    await page.waitForSelector('text=Birthday bot works again.');
    expect(await submits()).toBe(201);
  });

  it('change the tier of a bot in two steps, and give it back to the settings', async () => {
    const page = await signedIn();
    await toPage(page, 'bots');
    const row = page.locator('tbody tr', { hasText: bot.platformBotId });
    const tier = row.getByLabel('Tier of Birthday bot');
    await tier.selectOption('high');
    expect((await bot.get('/bots/me')).header('x-ratelimit-limit')).toBe('1000000');
    // Every act is in sight.
    expect(
      await page.evaluate(
        '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".scroll"))',
      ),
    ).toBe(0);
    const change = await row.getByRole('button', { name: 'Change' }).boundingBox();
    const cell = await row.locator('td:has(form.tier)').boundingBox();
    // Within its cell, and not above the next one.
    expect((change?.x ?? NaN) + (change?.width ?? NaN)).toBeLessThan((cell?.x ?? NaN) + (cell?.width ?? NaN));
    await row.getByRole('button', { name: 'Change' }).click();
    await page.waitForSelector('text=Birthday bot has the tier high.');
    expect((await bot.get('/bots/me')).header('x-ratelimit-limit')).toBe('3000000');
    expect(await watched.accessibility()).toStrictEqual([]);
    await tier.selectOption('default');
    await row.getByRole('button', { name: 'Change' }).click();
    await page.waitForSelector('text=Birthday bot has the tier free.');
  });

  it('give the ledger as a file, the number of erasures in it, and no id of a user', async () => {
    const page = await signedIn();
    await toPage(page, 'ledger');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the ledger' }).dblclick();
    const path = await (await download).path();
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'lethe-erasure-ledger/3' });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ entries: lines.length - 2 });
    await page.waitForSelector(`text=Erasures in the file: ${lines.length - 2}`);
    await page.waitForSelector('code:has-text("lethe-server admin ledger:export")');
    expect(await watched.accessibility()).toStrictEqual([]);
  });

  it.each([
    ['in English', DESKTOP, 'Drill', 'everything could be used', 'failed', 'none on record'],
    ['in German, 320 px wide', PHONE, 'Probe', 'alles war benutzbar', 'gescheitert', 'keine bekannt'],
  ] as const)(
    'say when a backup was restored for a drill, and whether it could be used, %s',
    async (_, view, name, ok, failed, none) => {
      const page = await signedIn(view);
      const drill = page.locator(`dt:text-is("${name}") + dd`);
      await drill.getByText(ok).waitFor();
      expect(await drill.textContent()).toContain(view.language === 'de' ? '3,8' : '3.8');
      for (const [answered, said] of [
        [{ at: ago(DAY_MS), ok: false, bytes: null }, failed],
        [null, none],
      ] as const) {
        await page.route('**/operator/status', async (route) => {
          const response = await route.fetch();
          const body = (await response.json()) as { data: { backups: object } };
          body.data.backups = { ...body.data.backups, drill: answered };
          await route.fulfill({ response, json: body });
        });
        await page.reload();
        await drill.getByText(said).waitFor();
        expect(await watched.accessibility()).toStrictEqual([]);
      }
    },
  );

  it('say what is wrong and what to do in German where the browser is German', async () => {
    const page = await signedIn(PHONE);
    await toPage(page, 'health');
    await page.waitForSelector('text=Jeder, der den Dienst erreicht, kann Bots registrieren.');
    const said = 'Everybody who reaches the service can register bots.';
    await page.waitForSelector(`p[lang=en]:has-text("${said}")`);
    await page.locator('button.menu').click();
    await page.locator('.tools select').last().selectOption('en');
    await page.waitForSelector(`strong:has-text("${said}")`);
    expect(await page.locator('p[lang=en]').count()).toBe(0);
  });

  it('are refused to a wrong token, and a bot sees none of them', async () => {
    const page = await at(DESKTOP);
    await enter(page, `${OPERATOR_TOKEN}x`);
    await page.waitForSelector('text=This key is not valid');
    expect(await watched.accessibility()).toStrictEqual([]);
    await enter(page, bot.key);
    await page.waitForSelector('nav a[href="/console/users"]');
    expect(await page.locator('nav a[href="/console/bots"]').count()).toBe(0);
  });

  it('keep no token where a script can read it, and a tab that is loaded anew keeps its page', async () => {
    const page = await signedIn();
    await toPage(page, 'health');
    const readable = await page.evaluate(
      'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })',
    );
    expect(readable).not.toContain(OPERATOR_TOKEN);
    await page.reload();
    await page.waitForSelector('nav a[href="/console/health"][aria-current=page]');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForSelector('input[type=password]');
  });

  it('show an error in words, and that the page is offline', async () => {
    const page = await signedIn();
    await page.route('**/operator/bots**', (route) => route.abort());
    await page.click('nav a[href="/console/bots"]');
    await page.waitForSelector('[role=alert]:has-text("The service does not answer")');
    expect(await watched.accessibility()).toStrictEqual([]);
    await page.context().setOffline(true);
    await page.waitForSelector('text=You are offline');
    expect(await watched.accessibility()).toStrictEqual([]);
  });

  it('show hostile names as text', async () => {
    const hostile = await service.registerBot({ name: HOSTILE.slice(0, 100) });
    const page = await signedIn(PHONE);
    await toPage(page, 'bots');
    const row = page.locator('tbody tr', { hasText: hostile.platformBotId });
    await row.getByRole('button', { name: 'Sperren' }).click();
    await page.waitForSelector('dialog[open]');
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(await watched.accessibility()).toStrictEqual([]);
  });

  it('end their session when the token changes', async () => {
    const page = await signedIn();
    // Where nothing was loaded, a session that ends leaves no page to sign in again from.
    await page.waitForSelector('.tile');
    // The overview asks again by itself, and would end the session before the click below.
    await page.click('nav a[href="/console/ledger"]');
    await page.waitForSelector('h1:has-text("Ledger")');
    const other = new Service(
      { LETHE_MASTER_KEY, OPERATOR_TOKEN: 'another-token-of-40-characters'.padEnd(40, 'x') },
      service.database,
      service.directory,
    );
    const { port } = service;
    await end(service);
    other.port = port;
    await other.start();
    Object.assign(other.app.get(ConsoleFiles), { folder });
    await page.click('nav a[href="/console/bots"]');
    await page.waitForSelector('text=Your session has ended');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await enter(page, OPERATOR_TOKEN);
    await page.waitForSelector('text=This key is not valid');
    await end(other);
    const none = new Service({ LETHE_MASTER_KEY }, service.database, service.directory);
    none.port = port;
    await none.start();
    Object.assign(none.app.get(ConsoleFiles), { folder });
    await enter(page, OPERATOR_TOKEN);
    await page.waitForSelector('text=This key is not valid');
    expect(await watched.accessibility()).toStrictEqual([]);
    await end(none);
    await service.start();
    Object.assign(service.app.get(ConsoleFiles), { folder });
  });
});
