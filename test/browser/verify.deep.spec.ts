import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleFiles } from '@app/pages';
import type { Browser, Page } from 'playwright-core';
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
import { SigningService } from '../support/final-certificates';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const VIEWS: readonly View[] = [DESKTOP, PHONE];

const service = useServiceInProcess();
let folder: string;
let browser: Browser;
let certificate: string;

async function opened(path: string, view: View): Promise<WatchedPage> {
  const watched = await WatchedPage.open(browser, service.url, view);
  await watched.page.goto(service.url + path);
  return watched;
}

const KEYS_ARE_THERE = `document.querySelector('#keys').value.includes('Ed25519')`;

/** Waits until a condition holds in the page. waitForFunction looks again by eval, which the policy of the page refuses. */
const holds = (page: Page, condition: string): Promise<void> =>
  until(() => page.evaluate<boolean>(condition));

describeInBrowser('the page /verify in a browser', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lethe-verify-'));
    Object.assign(service.app.get(ConsoleFiles), { folder: await builtConsole(), files: undefined });
    browser = await startBrowser();
    const bot = await service.registerBot();
    const { data } = await bot.post<{ request_id: string }>('/gdpr/forget-user', subject());
    const path = `/gdpr/forget-status/${data.request_id}/certificate`;
    certificate = (await bot.get<{ certificate: string }>(path)).data.certificate;
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(VIEWS)('checks a certificate at /verify in $language, $scheme, $width pixels', async (view) => {
    const watched = await opened('/verify', view);
    const { page } = watched;
    const answer = view.language === 'de' ? 'Es stimmt.' : 'It holds.';
    await holds(page, KEYS_ARE_THERE);
    await page.fill('#statement', certificate);
    await page.click('button[type=submit]');
    await page.waitForSelector(`#finding .good:has-text("${answer}")`);
    // The answer is above what was asked, in sight, and the keys are folded.
    const order = `[...document.querySelectorAll('#finding, #statement, #keys')].map(({ id }) => id)`;
    expect(await page.evaluate(order)).toEqual(['finding', 'statement', 'keys']);
    await holds(page, `document.querySelector('#finding').getBoundingClientRect().top >= 0`);
    expect(await page.isVisible('#keys')).toBe(false);
    expect(await watched.accessibility()).toEqual([]);
    await pictured(watched.page, 'verify', view);
    const last = certificate.length - 20;
    const other = certificate[last] === 'A' ? 'B' : 'A';
    await page.fill('#statement', certificate.slice(0, last) + other + certificate.slice(last + 1));
    await page.click('button[type=submit]');
    await page.waitForSelector('#finding .bad');
    expect(await watched.accessibility()).toEqual([]);
    await page.fill('#statement', `<img src=x onerror=alert(1)>`);
    await page.click('button[type=submit]');
    await page.waitForSelector('#finding .warn');
    expect(watched.faults).toEqual([]);
  });

  it.each(VIEWS)(
    'says who has signed what in a final certificate in $language, $scheme, $width pixels',
    async (view) => {
      const signing = new SigningService();
      const watched = await opened('/verify', view);
      const { page } = watched;
      await holds(page, KEYS_ARE_THERE);
      await page.click('summary');
      await page.fill('#keys', JSON.stringify(signing.keySet));
      await page.click('summary');
      await page.fill(
        '#statement',
        JSON.stringify({ data: { certificate: signing.signs(signing.final(), 'final') } }),
      );
      await page.click('button[type=submit]');
      await page.waitForSelector('#finding .good');
      const own = view.language === 'de' ? 'mit seinem eigenen Schlüssel' : 'signed by its own key';
      const received = view.language === 'de' ? 'nicht signiert' : 'has not signed it';
      const answers = await page.locator('#finding li').allInnerTexts();
      expect(answers.map((text) => [text.includes(own), text.includes(received)])).toEqual([
        [false, true],
        [true, false],
        [true, false],
      ]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await watched.accessibility()).toEqual([]);
      await pictured(watched.page, 'verify-final', view);
      for (const changed of [
        { public_key: null },
        { statement: null },
        { result: 'nothing' },
        { key: 'd' },
      ]) {
        await page.fill('#statement', signing.withAnswer(1, changed));
        await page.click('button[type=submit]');
        await page.waitForSelector('#finding .bad');
        expect(await page.locator('#finding li').count()).toBe(0);
      }
      expect(watched.faults).toEqual([]);
    },
  );

  it.each(['/verify?lang=de', '/console/'])(
    'opens %s where the browser keeps nothing of a site',
    async (path) => {
      const watched = await WatchedPage.open(browser, service.url, { ...PHONE, language: 'en' });
      await watched.page.addInitScript(`for (const place of ['localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, place, { get() { throw new DOMException('Denied', 'SecurityError'); } });`);
      await watched.page.goto(service.url + path);
      const language = path.startsWith('/verify') ? 'de' : 'en';
      await watched.page.waitForSelector(`html[lang=${language}] form`);
      const other = language === 'de' ? 'en' : 'de';
      await watched.page.locator('.switch select').last().selectOption(other);
      await watched.page.waitForSelector(`html[lang=${other}] form`);
      expect(watched.faults).toEqual([]);
    },
  );

  it('reads a file before it can be checked, and asks the service for nothing but its own files and the public keys', async () => {
    const watched = await WatchedPage.open(browser, service.url);
    const asked: string[] = [];
    watched.page.on('request', (request) => {
      asked.push(`${request.method()} ${new URL(request.url()).pathname}`);
      if (request.postData() !== null) asked.push('a body');
    });
    // The page gets the text of the file once `readOn` was called.
    await watched.page.addInitScript(`
      const { text } = Blob.prototype;
      const told = new Promise((resolve) => (globalThis.readOn = resolve));
      Blob.prototype.text = async function () { await told; return text.call(this); };`);
    await watched.page.goto(`${service.url}/verify`);
    await holds(watched.page, KEYS_ARE_THERE);
    const file = join(folder, 'certificate.json');
    writeFileSync(file, JSON.stringify({ success: true, data: { certificate } }));
    await watched.page.setInputFiles('input[type=file]', file);
    await watched.page.waitForSelector('button[type=submit]:disabled');
    await watched.page.evaluate('readOn()');
    await watched.page.click('button[type=submit]');
    await watched.page.waitForSelector('#finding .good');
    const others = asked.filter(
      (one) => !/^GET (\/verify|\/console\/assets\/[^?]+|\/\.well-known\/lethe-keys\.json)$/.test(one),
    );
    expect(others).toEqual([]);
    expect(watched.faults).toEqual([]);
  });
});
