import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The headless shell takes half the processor time of the whole browser, with the same engine. */
const SHELL = '/usr/bin/chromium-headless-shell';
const BROWSER = '/usr/bin/chromium';
const CHROMIUM = existsSync(BROWSER) && !existsSync(SHELL) ? BROWSER : SHELL;
const isThere = existsSync(CHROMIUM);
if (!isThere) process.stderr.write(`The tests in a browser are skipped: there is no ${CHROMIUM}.\n`);

/** In CI a missing browser is a failure. */
export const hasBrowser = isThere || process.env['CI'] === 'true';
export const describeInBrowser = hasBrowser ? describe : describe.skip;

/** Another name of this machine. To a browser, a page that comes from it over HTTP is no secure context. */
export const PLAIN_HOST = 'lethe.test';

/** Without what Chromium asks of other hosts. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
];

/** The limit of one wait, as long as a suite waits at all: less than that of its tests, so that the error names what was missing. */
export const WAIT_MAX_MS = 1_190_000;

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: WAIT_MAX_MS });
}

const SERVICE_OF_CONSOLE = readFileSync(join(__dirname, '../../apps/console/src/service.ts'), 'utf8');
/** The limit of a call of the console, as it is written there. */
const [, CALL_MAX_MS] = /^const TIMEOUT_MS = ([\d_]+);$/m.exec(SERVICE_OF_CONSOLE) ?? [];
if (CALL_MAX_MS === undefined) throw new Error('apps/console/src/service.ts has no TIMEOUT_MS');

/** Runs before the scripts of a page: no call is given up because the process of the service, that of the test, stops for seconds. */
const PATIENTLY = `{
  const { setTimeout: original } = globalThis;
  const within = AbortSignal.timeout.bind(AbortSignal);
  const longer = (ms) => (ms === ${CALL_MAX_MS} ? 3_600_000 : ms);
  globalThis.setTimeout = (run, ms, ...given) => original(run, longer(ms), ...given);
  AbortSignal.timeout = (ms) => within(longer(ms));
}`;

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** The view of a page. */
export interface View {
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly language: 'en' | 'de';
}

export const DESKTOP: View = { scheme: 'light', width: 1280, language: 'en' };
export const PHONE: View = { scheme: 'dark', width: 320, language: 'de' };

/** A page that records what no page may do: errors of scripts, dialogs of foreign scripts, requests to other origins. */
export class WatchedPage {
  readonly faults: string[] = [];

  private constructor(readonly page: Page) {}

  static async open(browser: Browser, origin: string, view: View = DESKTOP): Promise<WatchedPage> {
    const context = await browser.newContext({
      colorScheme: view.scheme,
      locale: view.language,
      viewport: { width: view.width, height: 900 },
      // A colour in the middle of a transition has another contrast.
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(WAIT_MAX_MS);
    await context.addInitScript(PATIENTLY);
    const watched = new WatchedPage(await context.newPage());
    const { page, faults } = watched;
    page.on('pageerror', ({ message }) => faults.push(`error: ${message}`));
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) faults.push(`policy: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('blob:')) faults.push(`request: ${url}`);
    });
    return watched;
  }

  /** The rules of WCAG 2.2 AA that the page breaks, and whether it is wider than its window. */
  async accessibility(): Promise<string[]> {
    const session = await this.page.context().newCDPSession(this.page);
    // The policy of the page forbids scripts of others; the debugger may add one, which stays until the next document.
    const { result } = await session.send('Runtime.evaluate', { expression: 'typeof axe' });
    if (result.value === 'undefined') await session.send('Runtime.evaluate', { expression: AXE });
    const found = await session.send('Runtime.evaluate', {
      expression:
        'axe.run({ resultTypes: [`violations`] }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`).concat(' +
        'document.documentElement.scrollWidth > innerWidth ? [`wider than its window: ${document.documentElement.scrollWidth}`] : []))',
      awaitPromise: true,
      returnByValue: true,
    });
    await session.detach();
    return found.result.value as string[];
  }
}

/** The browser of a file of tests. A test has one page. */
export class Visitor {
  browser: Browser | undefined;
  /** The page of the test, if it has opened one. */
  watched: WatchedPage | undefined;

  /** A page before it has an address. */
  async opens(origin: string, view: View = DESKTOP): Promise<Page> {
    if (this.browser === undefined) throw new Error('there is no browser');
    this.watched = await WatchedPage.open(this.browser, origin, view);
    return this.watched.page;
  }

  /** What is wrong for people who see, hear or press keys in another way. */
  async accessibility(): Promise<string[]> {
    return (await this.watched?.accessibility()) ?? ['no page'];
  }
}

/** A visitor of the tests of the calling file; each test ends without a fault of its page. */
export function useBrowser<V extends Visitor = Visitor>(
  isFault: (fault: string) => boolean = () => true,
  visitor = new Visitor() as V,
): V {
  beforeAll(async () => {
    if (hasBrowser) visitor.browser = await startBrowser();
  });
  afterAll(() => visitor.browser?.close());
  afterEach(async () => {
    const { watched } = visitor;
    visitor.watched = undefined;
    await watched?.page.context().close();
    expect(watched?.faults.filter(isFault) ?? []).toStrictEqual([]);
  });
  return visitor;
}

/** Where pictures are written, for the documentation and for a look: `PICTURES=docs/pictures npx jest test/browser`. */
const PICTURES = process.env['PICTURES'];

/** Writes a picture of a page where pictures are wanted, and answers its path. */
export async function pictured(
  page: Page,
  name: string,
  view?: View,
  fullPage = true,
): Promise<string | undefined> {
  if (PICTURES === undefined) return undefined;
  const ofView = view === undefined ? '' : `-${view.language}-${view.scheme}-${view.width}`;
  const path = resolve(PICTURES, `${name}${ofView}.png`);
  await page.screenshot({ path, fullPage });
  return path;
}
