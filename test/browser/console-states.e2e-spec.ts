import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { DESKTOP, describeInBrowser, type View, WatchedPage } from '../support/browser';
import { findUser, livesOf, plantNumbers, signIn, toPage, useBuiltConsole } from '../support/console';
import { useServiceInProcess } from '../support/service';
import type { SubjectIds } from '../support/snowflakes';

jest.setTimeout(120_000);

const PAGES = ['', 'users', 'categories', 'audit', 'webhooks', 'keys', 'reports'];
const INTERFACE = '**/console/api/**';
/** Wide enough for a busy machine; docs/console.md has what was measured. */
const INTERACTIVE_MAX_MS = 5_000;
const FIRST_LOAD_MAX_BYTES = 150 * 1024;

const service = useServiceInProcess();
let bot: Bot;
let user: SubjectIds;
let watched: WatchedPage;

describeInBrowser('the console in a browser', () => {
  const built = useBuiltConsole(service);

  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
  });
  afterEach(async () => {
    const faults = watched.faults.splice(0);
    await watched.page.context().close();
    expect(faults).toStrictEqual([]);
  });

  async function signedIn(view: View = DESKTOP): Promise<Page> {
    watched = await WatchedPage.open(built.browser, service.url, view);
    await signIn(watched.page, service.url, bot.key ?? '');
    return watched.page;
  }

  it('asks this service alone, for few files, and takes input soon', async () => {
    watched = await WatchedPage.open(built.browser, service.url);
    const { page } = watched;
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const asked: string[] = [];
    let transferred = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => void (transferred += encodedDataLength));
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    await page.goto(`${service.url}/console`);
    await page.waitForSelector('input[type=password]');
    // The script paints all that there is, and nothing is painted before it takes input.
    const interactiveMs = await page.evaluate<number>(
      `new Promise((painted) => new PerformanceObserver((list) => painted(list.getEntries()[0].startTime))
         .observe({ type: 'paint', buffered: true }))`,
    );
    await page.waitForLoadState('networkidle');
    process.stdout.write(
      `first load: ${asked.length} requests, ${transferred} bytes, interactive in ${Math.round(interactiveMs)} ms\n`,
    );
    expect([...new Set(asked)]).toStrictEqual([service.url]);
    expect(asked.length).toBeLessThanOrEqual(8);
    expect(transferred).toBeLessThan(FIRST_LOAD_MAX_BYTES);
    expect(interactiveMs).toBeLessThan(INTERACTIVE_MAX_MS);
    await signIn(page, service.url, bot.key ?? '');
    for (const path of PAGES) await toPage(page, path);
    expect([...new Set(asked)]).toStrictEqual([service.url]);
  });

  it('says on each page that there is nothing yet', async () => {
    const page = await signedIn();
    for (const path of PAGES) {
      await toPage(page, path);
      // A new bot has one key, and a record of itself.
      if (!['users', 'keys', 'reports'].includes(path)) await page.locator('main .empty').first().waitFor();
      expect([path, await watched.accessibility()]).toStrictEqual([path, []]);
    }
  });

  it('says on each page that it loads, and shows what came', async () => {
    await livesOf(bot);
    const page = await signedIn();
    for (const path of PAGES.filter((name) => name !== '' && name !== 'users')) {
      await toPage(page, '');
      let goOn = (): void => undefined;
      const allowed = new Promise<void>((resolve) => (goOn = resolve));
      await page.route(INTERFACE, (route) => allowed.then(() => route.continue()));
      await page.click(`nav a[href="/console/${path}"]`);
      await page.locator('main .loading').first().waitFor();
      expect([path, await watched.accessibility()]).toStrictEqual([path, []]);
      goOn();
      await page.locator('main .loading').first().waitFor({ state: 'detached' });
      await page.unroute(INTERFACE);
    }
  });

  it('says on each page what failed, with the number of the request, and loads it anew when asked', async () => {
    await livesOf(bot);
    const page = await signedIn();
    const fault = { code: 'internal_error', message: 'x', request_id: 'abc-1', details: {} };
    for (const path of PAGES.filter((name) => name !== '' && name !== 'users')) {
      await toPage(page, '');
      await page.route(INTERFACE, (route) =>
        route.fulfill({ status: 500, json: { success: false, error: fault } }),
      );
      await page.click(`nav a[href="/console/${path}"]`);
      await page.locator('main [role=alert]').first().waitFor();
      await page.waitForSelector('main .loading', { state: 'detached' });
      expect([path, await watched.accessibility()]).toStrictEqual([path, []]);
      await page.unroute(INTERFACE);
      // A page can have several lists.
      const lists = await page.getByRole('button', { name: 'Try again' }).count();
      for (let left = lists; left > 0; left--) {
        await page.getByRole('button', { name: 'Try again' }).first().click();
        await page
          .locator('main [role=alert]')
          .nth(left - 1)
          .waitFor({ state: 'detached' });
      }
      expect(lists).toBeGreaterThan(0);
    }
  });

  it('says that it is offline, and goes on when the connection is back', async () => {
    user = await livesOf(bot);
    const page = await signedIn();
    await findUser(page, user);
    await page.context().setOffline(true);
    await page.waitForSelector('text=You are offline');
    expect(await watched.accessibility()).toStrictEqual([]);
    await page.context().setOffline(false);
    await page.waitForSelector('text=You are offline', { state: 'detached' });
  });

  it('tells the truth when the connection is lost in the middle of an erasure, and a repeat succeeds', async () => {
    user = await livesOf(bot);
    const page = await signedIn();
    await findUser(page, user);
    // The act arrives and is done; its answer is lost.
    await page.route('**/gdpr/forget-user', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Erase user' }).click();
    await page.fill('dialog input', user.user_id);
    await page.locator('dialog button.danger').click();
    await page.locator('dialog [role=alert]', { hasText: 'The service does not answer' }).waitFor();
    expect(await page.locator('main').textContent()).not.toContain('The user is erased');
    expect((await bot.export(user)).status).toBe(404);
    await page.unroute('**/gdpr/forget-user');
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('text=The user is erased.');
  });

  it.each([360, 640, 3840])('is no wider than a window of %d pixels, on any page', async (width) => {
    user = await livesOf(bot);
    await plantNumbers(service, bot);
    const page = await signedIn({ ...DESKTOP, width, language: 'de' });
    for (const path of PAGES) {
      await toPage(page, path);
      expect([path, await watched.accessibility()]).toStrictEqual([path, []]);
    }
    await findUser(page, user);
    expect(await watched.accessibility()).toStrictEqual([]);
  });

  it('loses nothing at 200 % of the size of text in a window of 1280 pixels', async () => {
    user = await livesOf(bot);
    const page = await signedIn();
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
    for (const path of PAGES) {
      await toPage(page, path);
      expect([path, await watched.accessibility()]).toStrictEqual([path, []]);
    }
  });

  it('can be used from the sign-in to the erasure with the keyboard alone', async () => {
    user = await livesOf(bot);
    watched = await WatchedPage.open(built.browser, service.url);
    const { page } = watched;
    const focused = () =>
      page.evaluate<string>(
        `(document.activeElement.textContent || document.activeElement.getAttribute('aria-label') || document.activeElement.type || '').trim()`,
      );
    /** Presses Tab until what has this text has the focus. */
    const tabTo = async (text: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses++) {
        if ((await focused()) === text) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${text} is not reached`);
    };
    await page.goto(`${service.url}/console`);
    await page.waitForSelector('input');
    await tabTo('password');
    await page.keyboard.type(bot.key ?? '');
    await page.keyboard.press('Enter');
    await page.waitForSelector('nav');
    await tabTo('Users');
    await page.keyboard.press('Enter');
    await page.waitForSelector('form.row');
    await tabTo('text');
    await page.keyboard.type(user.user_id);
    await page.keyboard.press('Tab');
    await page.keyboard.type(user.guild_id);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.facts');
    await tabTo('Show values');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=1 May, no. 2');
    await tabTo('Erase user');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    // A dialog is left by Escape, and nothing was done.
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    expect((await bot.export(user)).status).toBe(200);
    await tabTo('Erase user');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await tabTo('text');
    await page.keyboard.type(user.user_id);
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=The user is erased.');
    expect(await page.textContent('main')).not.toContain('1 May');
  });

  it('is shown in no frame of another origin, and takes no request of one', async () => {
    user = await livesOf(bot);
    const page = await signedIn();
    const other = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe src="${service.url}/console"></iframe>`);
    });
    const origin = await listening(other);
    try {
      await page.goto(origin);
      await page.waitForLoadState('networkidle');
      expect(await page.frames()[1]?.locator('input, nav').count()).toBe(0);
      // The browser of a signed-in team, on the page of somebody else.
      const path = `${service.url}/console/api/v1/consents/revoke`;
      const body = JSON.stringify(user);
      const simple = `fetch('${path}', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '${body}' })`;
      const withHeader = `fetch('${path}', { method: 'POST', credentials: 'include', headers: { 'x-lethe-console': '1' }, body: '${body}' })`;
      for (const attempt of [simple, withHeader])
        await page.evaluate(`${attempt}.then(() => undefined, () => undefined)`);
      expect((await bot.status(user)).data).toMatchObject({ status: 'accepted' });
      expect(await bot.eventTypes(user)).not.toContain('consent_revoked');
      await page.goto(`${service.url}/console`);
      await page.waitForSelector('nav');
    } finally {
      other.close();
      // The other origin and the refused frame are what this test is about.
      watched.faults.length = 0;
    }
  });
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
