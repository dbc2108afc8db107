import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser } from '../support/browser';
import { useConsole } from '../support/console';
import { snowflake, type SubjectIds } from '../support/snowflakes';

const team = useConsole();
const { service } = team;
let bot: Bot;
let user: SubjectIds;

/** Lets the service do what is posted to an address, and loses its answers until `stop` is called. */
async function losesAnswers(page: Page, glob: string) {
  const keys = new Set<string | undefined>();
  await page.route(glob, async (route) => {
    const request = route.request();
    if (request.method() !== 'POST') return route.fallback();
    keys.add(request.headers()['idempotency-key']);
    await route.fetch();
    return route.abort('connectionreset');
  });
  return { keys, stop: () => page.unroute(glob) };
}

describeInBrowser('what the console shows once', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
    user = { user_id: snowflake(), guild_id: snowflake() };
  });

  const countOf = async (): Promise<number> =>
    (await bot.get<{ keys: object[] }>(`/bots/${bot.id}/keys`)).data.keys.length;
  const away = (page: Page) =>
    page.locator('main [role=alert]', { hasText: 'The service does not answer' }).waitFor();

  /** The page of the user, after a value was stored. */
  async function opened(): Promise<Page> {
    await bot.hasCategory('birthday');
    await bot.hasConsent(user);
    await bot.hasData(user, 'birthday', { value: '1 May' });
    return team.signsIn(bot.key, { address: `/users/${user.guild_id}/${user.user_id}` });
  }

  describe('after its answer was lost', () => {
    it('is a key that a repeat shows, and which is listed before', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      const create = page.getByRole('button', { name: 'Create key' });
      const lost = await losesAnswers(page, '**/keys');
      await page.getByLabel('Name').fill('Worker');
      await page.getByLabel('Valid for').selectOption('7');
      await create.click();
      await away(page);
      await page.waitForSelector('td bdi:has-text("Worker")');
      await lost.stop();
      await create.click();
      await page.waitForSelector('.notice.good code');
      expect(lost.keys.size).toBe(1);
      expect(await countOf()).toBe(2);
    });

    it('is not the key of another choice', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      const create = page.getByRole('button', { name: 'Create key' });
      const lost = await losesAnswers(page, '**/keys');
      await create.click();
      await away(page);
      await lost.stop();
      await page.getByLabel('Name').fill('Another');
      await create.click();
      await page.waitForSelector('.notice.good code');
      await page.waitForSelector('td bdi:has-text("Another")');
      expect(await countOf()).toBe(3);
    });

    it('is the same act until it is refused for good, or for as long as the service keeps its answer', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      const create = page.getByRole('button', { name: 'Create key' });
      await page.getByLabel('Valid for').selectOption('7');
      const sent = async (): Promise<[key: string | undefined, lastsMs: number]> => {
        const request = page.waitForRequest((each) => each.method() === 'POST' && /\/keys$/.test(each.url()));
        // The list is loaded anew once the act has ended.
        const settled = page.waitForResponse(
          (each) => each.request().method() === 'GET' && /\/keys\?/.test(each.url()),
        );
        await create.click();
        const asked = (await request).postDataJSON() as { expires_at: string };
        await settled;
        return [(await request).headers()['idempotency-key'], Date.parse(asked.expires_at) - Date.now()];
      };
      const answers: [number, string, object?][] = [
        [400, 'invalid_request'],
        [409, 'conflict', { reason: 'limit_reached' }],
        [429, 'rate_limit_exceeded'],
        [409, 'conflict', { reason: 'idempotency_in_progress' }],
        [503, 'service_unavailable'],
      ];
      const keys: (string | undefined)[] = [];
      for (const [status, code, details] of answers) {
        await page.route('**/keys', (route) => {
          if (route.request().method() !== 'POST') return route.fallback();
          return route.fulfill({ status, json: { success: false, error: { code, message: code, details } } });
        });
        keys.push((await sent())[0]);
        await page.unroute('**/keys');
      }
      const [refused, inConflict, ...same] = keys;
      expect(new Set([refused, inConflict, same[0]]).size).toBe(3);
      expect(new Set(same).size).toBe(1);
      await page.evaluate('{ const { now } = Date; Date.now = () => now() + 2 * 86_400_000; }');
      const [later, lastsMs] = await sent();
      expect(keys).not.toContain(later);
      expect(lastsMs / 86_400_000).toBeCloseTo(9, 1);
    });

    it('is the secret of the webhook that a repeat shows', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      const rotate = async (): Promise<void> => {
        await page.getByRole('button', { name: 'New webhook secret' }).click();
        await page.locator('dialog button.danger').click();
      };
      const lost = await losesAnswers(page, '**/webhook-secret/rotate');
      await rotate();
      await away(page);
      await lost.stop();
      await rotate();
      await page.waitForSelector('.notice.good code');
      expect(await page.textContent('.notice.good code')).toMatch(/^whsec_/);
    });

    it('is the link to the privacy page that a repeat shows', async () => {
      const page = await opened();
      await page.locator('.actions .primary').click();
      const make = page.locator('.link button.primary');
      const lost = await losesAnswers(page, '**/privacy-links');
      await make.click();
      await away(page);
      await lost.stop();
      const repeat = page.waitForResponse('**/privacy-links');
      await make.click();
      await page.waitForSelector('.link .notice code');
      expect((await repeat).headers()['idempotent-replayed']).toBe('true');
    });
  });

  it('is a link that gives way to no other while it is ended, and whose buttons leave the focus beside them', async () => {
    const page = await opened();
    await page.locator('.actions .primary').click();
    await page.locator('.link button.primary').press('Enter');
    await page.waitForSelector('.link:focus .notice code');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/privacy-links/*', async (route) => {
      await held;
      await route.continue();
    });
    await page.locator('.link button.danger').press('Enter');
    expect(await page.getByRole('button', { name: 'Another link' }).isDisabled()).toBe(true);
    release();
    await page.waitForSelector('.link:focus [role=status]:has-text("The link has ended.")');
  });

  describe('when the page is left', () => {
    const leaves = (page: Page) => page.click('nav a[href="/console/users"]');
    const question = (page: Page, title: string) =>
      page.locator('dialog[open]', { has: page.getByRole('heading', { name: title }) });
    const isLeft = (page: Page) => page.waitForSelector('nav a[href="/console/users"][aria-current=page]');
    const copies = (page: Page) => page.context().grantPermissions(['clipboard-read', 'clipboard-write']);

    it('is asked about while it is not copied: a key, which is not made again by the answer', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      await copies(page);
      const create = page.getByRole('button', { name: 'Create key' });
      await create.click();
      await page.waitForSelector('.notice.good code');
      await page.getByLabel('Name').fill('Worker');
      await create.click();
      await page.locator('.notice.good code').nth(1).waitFor();
      const names = await page.locator('.notice.good bdi').allTextContents();
      expect(names).toEqual(['Worker', expect.stringMatching(/^sk_.+…$/)]);
      await leaves(page);
      const asks = question(page, 'Leave without a copy?');
      await asks.waitFor();
      expect(await team.accessibility()).toStrictEqual([]);
      await asks.getByRole('button', { name: 'Cancel' }).click();
      for (const at of [0, 1]) {
        await page.locator('.notice.good button').nth(at).click();
        await page.getByRole('button', { name: 'Copied', exact: true }).nth(at).waitFor();
      }
      await leaves(page);
      await isLeft(page);
      expect(await countOf()).toBe(3);
    });

    it('is left by the answer, and the form of the page is not sent by it', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.waitForSelector('.notice.good code');
      await leaves(page);
      await question(page, 'Leave without a copy?').locator('button.danger').click();
      await isLeft(page);
      expect(await countOf()).toBe(2);
    });

    it('is kept without a question by a link to the open page, and each way out is asked about', async () => {
      const page = await team.signsIn(bot.key, { address: '/keys' });
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.waitForSelector('.notice.good code');
      const asks = question(page, 'Leave without a copy?');
      await page.click('nav a[href="/console/keys"]');
      expect(await asks.count()).toBe(0);
      // The entry before is of the same page, which stays.
      await page.evaluate('history.back()');
      await asks.locator('button.danger').click();
      await asks.waitFor({ state: 'detached' });
      await leaves(page);
      await asks.getByRole('button', { name: 'Cancel' }).click();
      expect(await page.locator('.notice.good code').count()).toBe(1);
    });

    it.each(['Copy', 'Certificate'])('is asked about until it was kept, as by %s: a salt', async (keep) => {
      const page = await opened();
      await copies(page);
      await page.getByRole('button', { name: 'Erase in this server' }).click();
      await page.fill('dialog input', user.guild_id);
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('.erased code');
      await leaves(page);
      const asks = question(page, 'Leave without the salt?');
      await asks.getByRole('button', { name: 'Cancel' }).click();
      if (keep === 'Copy') await page.locator('.erased .copy').click();
      else await Promise.all([page.waitForEvent('download'), page.locator('.erased li > button').click()]);
      await asks.waitFor({ state: 'detached' });
      await leaves(page);
      await isLeft(page);
    });

    it('is asked about while an erasure runs', async () => {
      const page = await opened();
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/gdpr/forget-user', async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Erase in this server' }).click();
      await page.fill('dialog input', user.guild_id);
      await page.locator('dialog button.danger').click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await leaves(page);
      await question(page, 'Leave while the erasure runs?').getByRole('button', { name: 'Cancel' }).click();
      release();
      await page.waitForSelector('.erased code');
    });
  });
});
