import { resolve } from 'node:path';
import { ConsoleFiles } from '@app/pages';
import type { Browser, Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, startBrowser, type View, WatchedPage } from '../support/browser';
import { builtConsole } from '../support/built-console';
import { freePort } from '../support/free-port';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

/** Where pictures are written that people look at: `PICTURES=/tmp/pictures npx jest test/browser`. */
const PICTURES = process.env['PICTURES'];
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
const GERMAN: View = { ...DESKTOP, language: 'de', scheme: 'dark' };

const service = useServiceInProcess({ WEBHOOK_RETRY_SCHEDULE: '1h,1h' });
const receiver = useReceiver();
let browser: Browser;
let bot: Bot;
let watched: WatchedPage;

describeInBrowser('the pages on which a bot is set up', () => {
  beforeAll(async () => {
    Object.assign(service.app.get(ConsoleFiles), { folder: await builtConsole() });
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
  });
  afterEach(async () => {
    const faults = watched.faults.splice(0);
    await watched.page.context().close();
    expect(faults).toStrictEqual([]);
  });

  /** A page of a session. */
  async function opened(path: string, view: View = DESKTOP, key = bot.key ?? ''): Promise<Page> {
    watched = await WatchedPage.open(browser, service.url, view);
    const { page } = watched;
    await page.goto(`${service.url}/console${path}`);
    await page.fill('input[type=password]', key);
    await page.press('input[type=password]', 'Enter');
    await page.waitForSelector('.side');
    await page.waitForSelector('.loading', { state: 'detached' });
    return page;
  }

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const look = async (page: Page, name: string): Promise<void> => {
    if (PICTURES !== undefined)
      await page.screenshot({ path: resolve(PICTURES, `${name}.png`), fullPage: true });
  };
  const isAccessible = async (): Promise<void> => expect(await watched.accessibility()).toStrictEqual([]);
  const stored = async () => (await bot.get('/bots/me')).data;

  describe('settings', () => {
    it('saves name and contact, says what is wrong beside the field, and changes nothing else', async () => {
      await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
      const page = await opened('/settings');
      const save = button(page, 'Save');
      expect(await save.isDisabled()).toBe(true);
      await page.getByLabel('Contact for privacy').fill('nobody');
      await save.click();
      await page.waitForSelector('.fault:has-text("Enter an e-mail address")');
      await isAccessible();
      await look(page, 'settings-fault');
      await page.getByLabel('Contact for privacy').fill('privacy@example.org');
      await page.getByLabel('Name').first().fill(HOSTILE);
      await save.click();
      await page.waitForSelector('text=Saved.');
      expect(await stored()).toMatchObject({
        ...{ name: HOSTILE, privacy_contact: 'privacy@example.org', webhook_url: receiver.url },
      });
      await page.waitForSelector(`.brand:has-text('img src=x')`);
      await page.getByLabel('Contact for privacy').fill('');
      await save.click();
      await page.waitForSelector('text=Saved.');
      expect(await stored()).toMatchObject({ name: HOSTILE, privacy_contact: null });
    });

    it('saves the address of the webhook, calls it, and says what became of the call', async () => {
      receiver.reset();
      const page = await opened('/settings');
      const address = page.getByLabel('Address of the receiver');
      await address.fill('receiver.example.org');
      await button(page, 'Save and test').click();
      await page.waitForSelector('.fault:has-text("Enter a whole address")');
      await address.fill(receiver.url);
      await button(page, 'Save and test').click();
      await page.waitForSelector('.notice.good:has-text("confirmed the test call")');
      expect((await stored())['webhook_url']).toBe(receiver.url);
      await look(page, 'settings-tested');
      receiver.status = 500;
      await button(page, 'Test').click();
      await page.waitForSelector('.notice.bad:has-text("200 to 299")');
      await address.fill(`http://127.0.0.1:${await freePort()}/hook`);
      await button(page, 'Save and test').click();
      await page.waitForSelector('.notice.bad:has-text("Is the receiver running")');
      await isAccessible();
      await address.fill('');
      await button(page, 'Save and test').click();
      await page.waitForSelector('text=No calls are made any more.');
      expect((await stored())['webhook_url']).toBeNull();
    });

    it('asks before it is left with unsaved changes, by a link and by the way back', async () => {
      const page = await opened('/keys');
      await page.click('nav a[href="/console/settings"]');
      await page.getByLabel('Name').first().fill('Another');
      await page.waitForSelector('text=Unsaved changes');
      await page.click('nav a[href="/console/users"]');
      await page.waitForSelector('dialog[open]');
      await isAccessible();
      await page.getByRole('button', { name: 'Cancel' }).click();
      expect(await page.getByLabel('Name').first().inputValue()).toBe('Another');
      await page.goBack().catch(() => undefined);
      await page.waitForSelector('dialog[open]');
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('nav a[href="/console/keys"][aria-current=page]');
      expect((await stored())['name']).toBe('Birthday bot');
    });

    it.each([
      ['on a wide screen', DESKTOP, ['Register', 'Rename', 'Remove …', 'Go on', 'Keep it']],
      [
        'in German, 320 px wide',
        PHONE,
        ['Registrieren', 'Umbenennen', 'Entfernen …', 'Fortfahren', 'Behalten'],
      ],
    ] as const)(
      'registers, renames and removes a server after its name was typed, %s',
      async (_, view, [register, rename, remove, next, keep]) => {
        const { guild_id } = subject();
        const page = await opened('/settings', view);
        const add = page.locator('.add input');
        await add.nth(0).fill('12');
        await button(page, register).click();
        await page.waitForSelector('.fault:has-text("17")');
        await add.nth(0).fill(guild_id);
        await add.nth(1).fill('Garden');
        await button(page, register).click();
        await page.waitForSelector('td bdi:has-text("Garden")');
        await button(page, rename).click();
        await page.locator('td.below input').fill(HOSTILE);
        await page.locator('td.below button.primary').click();
        await page.waitForSelector('td bdi:has-text("img src=x")');
        await isAccessible();
        await look(page, `settings-servers-${view.width}`);
        await button(page, remove).click();
        await button(page, next).click();
        const confirm = page.locator('dialog button.danger');
        expect(await confirm.isDisabled()).toBe(true);
        await isAccessible();
        await page.fill('dialog input', HOSTILE);
        await confirm.click();
        await button(page, keep).waitFor();
        const listed = async () => (await bot.get<{ servers: object[] }>('/servers')).data.servers;
        expect(await listed()).toMatchObject([{ deletion_scheduled_for: expect.any(String) as string }]);
        await look(page, `settings-scheduled-${view.width}`);
        await button(page, keep).click();
        await button(page, remove).click();
        expect(await listed()).toMatchObject([{ name: HOSTILE, deletion_scheduled_for: null }]);
        await page.locator('td.below select').selectOption('0');
        await button(page, next).click();
        await page.fill('dialog input', HOSTILE);
        await confirm.click();
        await page.waitForSelector('tbody tr', { state: 'detached' });
        expect(await listed()).toStrictEqual([]);
      },
    );

    it('shows a key with the scope read no form, and no act', async () => {
      await bot.post('/servers/register', { guild_id: subject().guild_id, name: 'Garden' });
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
      const page = await opened('/settings', GERMAN, data.api_key as string);
      await page.waitForSelector('td bdi');
      expect(await page.locator('main form, main button:enabled:not(.copy):not(.screen)').count()).toBe(0);
      await isAccessible();
      await look(page, 'settings-read');
    });
  });
});
