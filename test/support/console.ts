import { ConsoleFiles } from '@app/pages';
import type { Page } from 'playwright-core';
import { DESKTOP, hasBrowser, useBrowser, type View, Visitor } from './browser';
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
class Team extends Visitor {
  /** The files of the console. */
  folder: string;

  constructor(readonly service: Service) {
    super();
  }

  /** A page before it has an address or a session. */
  comes(view: View = DESKTOP): Promise<Page> {
    return this.opens(this.service.url, view);
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
}

/** The console of a service of its own for the tests of the calling file; each test ends without a fault of its page. */
export function useConsole(settings: Record<string, string> = {}): Team {
  const team = new Team(useServiceInProcess(settings));
  beforeAll(async () => {
    if (!hasBrowser) return;
    team.folder = await builtConsole();
    Object.assign(team.service.app.get(ConsoleFiles), { folder: team.folder });
  });
  return useBrowser(undefined, team);
}
