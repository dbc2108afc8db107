import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConsoleFiles } from '@app/pages';
import { Health } from '@app/runtime';
import type { Browser } from 'playwright-core';
import { describeInBrowser, DESKTOP, PHONE, pictured, startBrowser, WatchedPage } from '../support/browser';
import { isFull, someOf } from '../support/depth';
import { useServiceInProcess } from '../support/service';

const PICTURE_MAX_BYTES = 84 * 1024;

const service = useServiceInProcess();
let browser: Browser;

describeInBrowser('the page at / in a browser', () => {
  beforeAll(async () => {
    service.app.get(Health).isServing = true;
    // As where the console was built.
    const built = { type: 'text/html', body: Buffer.alloc(0), caching: '' };
    jest.spyOn(service.app.get(ConsoleFiles), 'find').mockReturnValue(built);
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  it.each([
    ['English, light, wide', DESKTOP, 'Everything works.'],
    ['German, dark, narrow', PHONE, 'Alles funktioniert.'],
  ])('keeps the rules of WCAG 2.2 AA and loads nothing: %s', async (_, view, state) => {
    const watched = await WatchedPage.open(browser, service.url, view);
    await watched.page.goto(service.url);
    expect(await watched.page.locator('.state').textContent()).toBe(state);
    expect(await watched.accessibility()).toEqual([]);
    expect(watched.faults).toEqual([]);
    const path = await pictured(watched.page, 'front', view);
    if (path !== undefined) expect(statSync(path).size).toBeLessThan(PICTURE_MAX_BYTES);
    await watched.page.context().close();
  });

  it('changes its language by the switch, with the keyboard alone', async () => {
    const { page } = await WatchedPage.open(browser, service.url);
    await page.goto(service.url);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Deutsch');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/?lang=de');
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.context().close();
  });
});

describeInBrowser('the reference and the guides in a browser', () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const INDEX = '/docs/guides/';
  /** With tables, code and lists: the other guides have the same parts. */
  const GUIDE = '/docs/guides/webhooks';
  const OTHERS = readdirSync(join(__dirname, '../../docs'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => `${INDEX}${name.slice(0, -3)}`)
    .filter((path) => path !== GUIDE);

  it.each([
    ['light, wide', DESKTOP, [INDEX, '/docs']],
    ['dark, narrow', PHONE, ['/docs', INDEX, GUIDE, ...someOf(OTHERS, 8)]],
  ])('keep the rules of WCAG 2.2 AA, and load nothing of others: %s', async (_, view, paths) => {
    const watched = await WatchedPage.open(browser, service.url, view);
    // The entries of the reference have the same parts. By day each view keeps the first entry of a section and every eighth
    // one, not those of the other view, and closes every second one of these.
    const eighth = view === DESKTOP ? '8n' : '8n + 4';
    const [left, closed] = isFull
      ? ['.none', '.none']
      : [`:not(:first-of-type, :nth-of-type(${eighth}))`, ':nth-of-type(2n)'];
    for (const path of paths) {
      await watched.page.goto(service.url + path);
      await watched.page.evaluate(
        `document.querySelectorAll('section > details${left}').forEach((each) => each.remove());
         document.querySelectorAll('details').forEach((each) => { each.open = !each.matches('section > ${closed}'); })`,
      );
      expect([path, await watched.accessibility()]).toEqual([path, []]);
    }
    expect(watched.faults).toEqual([]);
    await watched.page.context().close();
  });

  it.each(readdirSync(join(__dirname, '../../docs/de')))(
    'break no word of a German heading on a phone: %s',
    async (file) => {
      for (const width of [320, 375]) {
        const watched = await WatchedPage.open(browser, service.url, { ...PHONE, width });
        await watched.page.goto(`${service.url}${INDEX}de/${file.slice(0, -3)}`);
        await pictured(watched.page, `guide-${file.slice(0, -3)}-${width}`);
        const broken = await watched.page.evaluate(
          `[...document.querySelectorAll('h1, h2, h3')].filter((each) => {
          each.style.overflowWrap = 'normal';
          return each.scrollWidth > each.clientWidth;
        }).map((each) => each.textContent)`,
        );
        expect([width, broken]).toEqual([width, []]);
        expect(watched.faults).toEqual([]);
        await watched.page.context().close();
      }
    },
  );

  it('finds operations by the words of a search, and opens the one of an address', async () => {
    const { page, faults } = await WatchedPage.open(browser, service.url);
    await page.goto(`${service.url}/docs#consentStatus`);
    expect(await page.locator('#consentStatus').isVisible()).toBe(true);
    expect(await page.locator('#consentAccept').isVisible()).toBe(false);
    const entries = page.locator('section > details:visible');
    const all = await entries.count();
    await page.getByLabel('Search').fill('Privacy.endLink  DELETE');
    expect(await entries.locator('summary > b').allTextContents()).toEqual(['DELETE']);
    expect(await page.getByRole('status').textContent()).toBe(`1 of ${all} entries`);
    await page.getByLabel('Search').press('Enter');
    await page.getByLabel('Search').fill('');
    expect([await entries.count(), faults]).toEqual([all, []]);
    await page.context().close();
  });

  it('leads from what a search has found to a shape that it has not, and there again', async () => {
    const { page, faults } = await WatchedPage.open(browser, service.url);
    await page.goto(`${service.url}/docs`);
    const entries = page.locator('section > details:visible');
    const all = await entries.count();
    for (const from of ['/docs', '/docs#shape-ForgottenView']) {
      expect([from, page.url()]).toEqual([from, service.url + from]);
      await page.getByLabel('Search').fill('forget-user');
      const found = entries.filter({ has: page.locator('#erasureForget') });
      if (!(await found.evaluate((details: { open?: boolean }) => details.open)))
        await found.locator('summary').first().click();
      expect(await page.locator('#shape-ForgottenView').isVisible()).toBe(false);
      await found.getByRole('link', { name: 'ForgottenView', exact: true }).first().click();
      await page.locator('#shape-ForgottenView').waitFor();
      expect([await page.getByLabel('Search').inputValue(), await entries.count()]).toEqual(['', all]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
