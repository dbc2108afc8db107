import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConsoleFiles } from '@app/console';
import type { Browser, Page } from 'playwright-core';
import type { Bot } from './bot';
import { startBrowser } from './browser';
import type { Service } from './service';
import { subject, type SubjectIds } from './snowflakes';

const ROOT = resolve(__dirname, '../..');
const DAY_MS = 86_400_000;

/** The pages of the console, built for a suite, and a browser. */
export interface BuiltConsole {
  folder: string;
  browser: Browser;
}

/** Builds the console for the service of the suite, as `npm run build` does, and starts a browser. */
export function useBuiltConsole(service: Service): BuiltConsole {
  const built = {} as BuiltConsole;
  beforeAll(async () => {
    built.folder = mkdtempSync(join(tmpdir(), 'lethe-console-'));
    const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
    const build = [vite, 'build', '--logLevel', 'warn', '--outDir', built.folder, 'apps/console'];
    execFileSync(process.execPath, build, { cwd: ROOT });
    Object.assign(service.app.get(ConsoleFiles), { folder: built.folder, files: undefined });
    built.browser = await startBrowser();
  });
  afterAll(async () => {
    await built.browser?.close();
    rmSync(built.folder, { recursive: true, force: true });
  });
  return built;
}

/** A bot with a category, a consent text and three users; answers the last user. */
export async function livesOf(bot: Bot): Promise<SubjectIds> {
  const field = { key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day' };
  await bot.post('/data/register', {
    ...{ key: 'birthday', label_de: 'Geburtstag', label_en: 'Birthday' },
    ...{
      description: 'To congratulate members',
      legal_basis: 'consent',
      retention_days: 20,
      fields: [field],
    },
  });
  await bot.post('/consents/texts', {
    ...{ consent_version: '1.0', language: 'en', jurisdiction: 'Germany' },
    title: 'May we keep your birthday?',
    body: 'We store your birthday to congratulate you.',
  });
  let last = subject();
  for (let n = 0; n < 3; n++) {
    last = subject();
    await bot.hasConsent(last);
    await bot.hasData(last, 'birthday', { day: `1 May, no. ${n}` });
  }
  return last;
}

/** Numbers of the last weeks, as the service keeps them: a bot of a test is some seconds old. */
export async function plantNumbers(service: Service, bot: Bot): Promise<void> {
  const others = Array.from({ length: 23 }, (_, hour) => `h${String(hour + 1).padStart(2, '0')}`);
  const add = (daysAgo: number, name: string, number: number): Promise<unknown> =>
    service.database.run(
      `INSERT INTO stats_counts (bot_id, day, name, writer, h00, ${others.join(', ')})
       VALUES (?, ?, ?, 0, ${Math.round(number)}, ${others.map(() => '0').join(', ')})`,
      ...[bot.id, new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10), name],
    );
  for (let day = 1; day < 30; day++) {
    const wave = 1 + Math.sin(day / 3) + (day % 7 < 2 ? 1 : 0);
    await add(day, 'consent_requested', 9 * wave + 4);
    await add(day, 'consent_accepted', 6 * wave + 3);
    await add(day, 'consent_revoked', wave);
    await add(day, 'data_submitted', 30 * wave + 12);
    await add(day, 'data_exported', 2 * wave);
    await add(day, 'deletion_completed', wave + 1);
    await add(day, 'erasure:9', wave + 1);
    await add(day, `erasure:${12 + (day % 9)}`, 1);
    await add(day, 'erasure:longest', 12 + (day % 9));
    await add(day, 'webhook:delivered', 2 * wave + 2);
    await add(day, 'webhook:failed', day % 11 === 0 ? 6 : day % 3 === 0 ? 1 : 0);
    await add(day, `latency:${18 + (day % 5)}`, 2 * wave + 2);
    await add(day, `latency:${day % 11 === 0 ? 42 : 25}`, 1);
    await add(day, 'latency:longest', day % 11 === 0 ? 410 : 40);
  }
}

/** Signs a team in, with the keyboard. */
export async function signIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(`${url}/console`);
  await page.fill('input[type=password]', key);
  await page.press('input[type=password]', 'Enter');
  await page.waitForSelector('nav');
}

export async function toPage(page: Page, name: string): Promise<void> {
  const link = `nav a[href="/console/${name}"]`;
  await page.click(link);
  await page.waitForSelector(`${link}[aria-current=page]`);
  await page.waitForSelector('main .loading', { state: 'detached' });
  await page.waitForLoadState('networkidle');
}

export async function findUser(page: Page, { user_id, guild_id }: SubjectIds): Promise<void> {
  await toPage(page, 'users');
  const fields = page.locator('form.row input');
  await fields.nth(0).fill(user_id);
  await fields.nth(1).fill(guild_id);
  await fields.nth(1).press('Enter');
  await page.waitForSelector('.facts');
}
