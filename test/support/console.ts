import { ConsoleFiles } from '@app/pages';
import type { Browser, Page } from 'playwright-core';
import { DESKTOP, hasBrowser, startBrowser, type View, WatchedPage } from './browser';
import { builtConsole } from './built-console';
import { type Service, useServiceInProcess } from './service';

interface Visit {
  /** Below `/console`. */
  readonly address?: string;
  readonly view?: View;
  /** Runs before those of the page. */
  readonly script?: string;
}

/** The team of a bot at the built console, in a browser. A test has one page. */
class Team {
  /** The files of the console. */
  folder: string;
  browser: Browser | undefined;
  /** The page of the test, if it has opened one. */
  watched: WatchedPage | undefined;

  constructor(readonly service: Service) {}

  /** A page before it has an address or a session. */
  async comes(view: View = DESKTOP): Promise<Page> {
    if (this.browser === undefined) throw new Error('there is no browser');
    this.watched = await WatchedPage.open(this.browser, this.service.url, view);
    return this.watched.page;
  }

  /** The page at an address, after the key was given there. */
  async signsIn(key: string, { address = '', view = DESKTOP, script }: Visit = {}): Promise<Page> {
    const page = await this.comes(view);
    if (script !== undefined) await page.addInitScript(script);
    await page.goto(`${this.service.url}/console${address}`);
    await page.fill('input[type=password]', key);
    await page.press('input[type=password]', 'Enter');
    await page.waitForSelector('.side');
    await page.waitForSelector('.loading', { state: 'detached' });
    return page;
  }

  /** What is wrong for people who see, hear or press keys in another way. */
  async accessibility(): Promise<string[]> {
    return (await this.watched?.accessibility()) ?? [];
  }

  /** Ends the page of a test, and answers what no page may do and it has done. */
  async leaves(): Promise<readonly string[]> {
    const { watched } = this;
    this.watched = undefined;
    await watched?.page.context().close();
    return watched?.faults ?? [];
  }
}

/** The console of a service of its own for the tests of the calling file; each test ends without a fault of its page. */
export function useConsole(settings: Record<string, string> = {}): Team {
  const team = new Team(useServiceInProcess(settings));
  beforeAll(async () => {
    if (!hasBrowser) return;
    team.folder = await builtConsole();
    Object.assign(team.service.app.get(ConsoleFiles), { folder: team.folder });
    team.browser = await startBrowser();
  });
  afterAll(() => team.browser?.close());
  afterEach(async () => {
    expect(await team.leaves()).toStrictEqual([]);
  });
  return team;
}
