import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE } from '../support/browser';
import { useConsole } from '../support/console';
import { seal } from '../support/sealing';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';

const team = useConsole();
const { service } = team;

const WORDS = {
  en: {
    whole: 'Check the whole log',
    holds: 'The log holds',
    json: 'JSON',
    dossier: 'Dossier for the platform',
  },
  de: {
    whole: 'Das ganze Protokoll prüfen',
    holds: 'Das Protokoll stimmt',
    json: 'JSON',
    dossier: 'Dossier für die Plattform',
  },
} as const;

describeInBrowser('the data protection officer of a team, with a key that only reads', () => {
  let bot: Bot;
  let user: SubjectIds;
  let key: string;

  beforeAll(async () => {
    bot = await service.registerBot({
      ...{ name: 'Birthday bot', privacy_contact: 'privacy@example.org' },
      notice: {
        controller_name: 'Garden friends e. V.',
        controller_address: 'Lindenweg 1, Bonn',
        public: true,
      },
    });
    await bot.hasCategory('birthday');
    const guild = snowflake();
    await bot.post('/servers/register', { guild_id: guild, name: 'Chess club' });
    user = { user_id: snowflake(), guild_id: guild };
    await bot.hasConsent(user);
    await bot.hasData(user, 'birthday', { value: '1 May' });
    const erased = subject();
    await bot.hasConsent(erased);
    await bot.hasForgotten(erased);
    await seal(service, bot);
    key = String((await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] })).data['api_key']);
  });

  /** Follows a link of the menu, which a phone has folded. */
  async function goes(page: Page, path: string): Promise<void> {
    const link = page.locator(`.side a[href="/console${path}"]`);
    if (!(await link.isVisible())) await page.click('button.menu');
    await link.click();
    await page.waitForSelector('.loading', { state: 'detached' });
  }

  async function file(page: Page, name: string): Promise<Record<string, unknown>> {
    const [given] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name }).click(),
    ]);
    return JSON.parse(await readFile(await given.path(), 'utf8')) as Record<string, unknown>;
  }

  it.each([
    ['in English, at a desk', DESKTOP, WORDS.en],
    ['in German, on a phone', PHONE, WORDS.de],
  ] as const)(
    'finds a person, checks the log, takes both papers and the notice with them: %s',
    async (_, view, words) => {
      const page = await team.signsIn(key, { view, address: `/users/${user.guild_id}/${user.user_id}` });
      await page.waitForSelector('text=Chess club');
      expect(await page.locator('main form, main .danger').count()).toBe(0);

      await goes(page, '/audit');
      await page.getByRole('button', { name: words.whole, exact: true }).click();
      expect(await page.textContent('#log-finding .notice.good')).toContain(words.holds);

      await goes(page, '/reports');
      await page.waitForSelector('.record');
      const record = await file(page, words.json);
      expect(record).toMatchObject({ activities: [{ category: 'birthday' }] });
      await page.getByRole('link', { name: words.dossier }).click();
      await page.waitForSelector('.record dd:has-text("ChaCha20-Poly1305")');
      expect(await file(page, words.json)).toHaveProperty('encryption');

      const notice = await fetch(`${service.url}/notice/${bot.id}`);
      expect([notice.status, await notice.text()]).toEqual([
        200,
        expect.stringContaining('Garden friends e. V.'),
      ]);
      expect(await team.accessibility()).toStrictEqual([]);
    },
  );
});
