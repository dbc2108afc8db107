import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { freePort } from '../support/free-port';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
const SERVERS_OF_A_PAGE = 20;
const GERMAN: View = { ...DESKTOP, language: 'de', scheme: 'dark' };

const team = useConsole({ WEBHOOK_RETRY_SCHEDULE: '1h,1h' });
const { service } = team;
const receiver = useReceiver();
let bot: Bot;

describeInBrowser('the pages on which a bot is set up', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
  });

  /** A page of a session. */
  const opened = (address: string, view: View = DESKTOP, key = bot.key): Promise<Page> =>
    team.signsIn(key, { address, view });

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const isAccessible = async (): Promise<void> => expect(await team.accessibility()).toStrictEqual([]);
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
      await pictured(page, 'settings-fault');
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

    it('keeps what is typed while it saves, as a change that is not saved', async () => {
      const page = await opened('/settings');
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/bots/*', async (route) => {
        if (route.request().method() === 'PUT') await held;
        await route.continue();
      });
      const contact = page.getByLabel('Contact for privacy');
      await page.getByLabel('Name').first().fill('Another');
      await button(page, 'Save').click();
      await page.waitForSelector('text=Saving');
      await contact.fill('privacy@example.org');
      release();
      await page.waitForSelector('.brand:has-text("Another")');
      await page.waitForSelector('text=Saving', { state: 'detached' });
      expect(await contact.inputValue()).toBe('privacy@example.org');
      await page.waitForSelector('text=Unsaved changes');
      expect(await stored()).toMatchObject({ name: 'Another', privacy_contact: null });
      await button(page, 'Save').click();
      await page.waitForSelector('text=Saved.');
      expect(await stored()).toMatchObject({ name: 'Another', privacy_contact: 'privacy@example.org' });
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
      await pictured(page, 'settings-tested');
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
      // The page keeps itself where it is: goBack would wait for a navigation that does not come.
      await page.evaluate('history.back()');
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
        await pictured(page, `settings-servers-${view.width}`);
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
        await pictured(page, `settings-scheduled-${view.width}`);
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

    it.each(['My  Guild', 'a\u00a0guild', '\u2066Guild\u2069'])(
      'removes a server after its id was typed where its name is none to type: %j',
      async (name) => {
        const { guild_id } = subject();
        await bot.post('/servers/register', { guild_id, name });
        const page = await opened('/settings');
        await button(page, 'Remove …').click();
        await page.locator('td.below select').selectOption('0');
        await button(page, 'Go on').click();
        expect(await page.locator('dialog label').textContent()).toContain(guild_id);
        await page.fill('dialog input', guild_id);
        await page.locator('dialog button.danger').click();
        await page.waitForSelector('tbody tr', { state: 'detached' });
      },
    );

    it('shows the page before when the last server of the last page was removed', async () => {
      for (let n = 0; n < SERVERS_OF_A_PAGE + 1; n++)
        await bot.post('/servers/register', { guild_id: subject().guild_id });
      const page = await opened('/settings');
      await button(page, 'Next').click();
      await page.waitForSelector('main tbody tr:only-child');
      const id = (await page.locator('main tbody td').nth(1).innerText()).match(/\d{17,20}/)?.[0] ?? '';
      await button(page, 'Remove …').click();
      await page.locator('td.below select').selectOption('0');
      await button(page, 'Go on').click();
      await page.fill('dialog input', id);
      await page.locator('dialog button.danger').click();
      const last = page.locator('main tbody tr').nth(SERVERS_OF_A_PAGE - 1);
      await page.locator('main .empty').or(last).waitFor();
      expect(await last.count()).toBe(1);
      // Until it is asked for again, the first page is as it was.
      await page.waitForSelector('main .pager', { state: 'detached' });
    });

    it('shows a key with the scope read no form, and no act', async () => {
      await bot.post('/servers/register', { guild_id: subject().guild_id, name: 'Garden' });
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
      const page = await opened('/settings', GERMAN, data.api_key as string);
      await page.waitForSelector('td bdi');
      expect(await page.locator('main form, main button:enabled:not(.copy):not(.screen)').count()).toBe(0);
      await isAccessible();
      await pictured(page, 'settings-read');
    });
  });

  describe('categories', () => {
    const declared = async (key: string) => (await bot.get(`/data/categories/${key}`)).data;

    it('are made with a preview, changed, and removed after their key was typed', async () => {
      const page = await opened('/new-category');
      await page.getByLabel('Key', { exact: true }).fill('Bad Key');
      await button(page, 'Create').click();
      // The number is the service's own.
      await page.waitForSelector('.fault:has-text("Small letters"):has-text("at most 100 characters")');
      await isAccessible();
      await page.getByLabel('Key', { exact: true }).fill('birthday');
      await page.getByLabel('Label, German').fill('Geburtstag');
      await page.getByLabel('Label, English').fill(HOSTILE);
      await page.getByLabel('Purpose, German').fill('Um dir zu gratulieren');
      await page.getByLabel('Purpose, English').fill('To congratulate you');
      await page.getByLabel('Kept for (days)').fill('30');
      await page.getByLabel('Key of the field').fill('day');
      await page.getByLabel('German', { exact: true }).fill('Tag');
      await page.getByLabel('English', { exact: true }).fill('Day');
      expect(await page.textContent('.users-page[lang=de]')).toContain('Um dir zu gratulieren');
      expect(await page.textContent('.discord[lang=en]')).toContain('Kept for: 30 days');
      await isAccessible();
      await pictured(page, 'category-new');
      await button(page, 'Create').click();
      await page.waitForSelector('nav a[href="/console/categories"][aria-current=page]');
      await page.waitForSelector('p code:has-text("birthday")');
      expect(await declared('birthday')).toMatchObject({
        ...{ label_en: HOSTILE, description_de: 'Um dir zu gratulieren', retention_days: 30 },
        fields: [{ key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day' }],
      });
      await page.getByLabel('Kept for (days)').fill('');
      await button(page, 'Add a field').click();
      await page.getByLabel('Key of the field').nth(1).fill('day');
      await page.getByLabel('German', { exact: true }).nth(1).fill('Jahr');
      await page.getByLabel('English', { exact: true }).nth(1).fill('Year');
      await button(page, 'Save').click();
      await page.waitForSelector('.field-row .fault:has-text("Another one has this already")');
      await page.getByLabel('Key of the field').nth(1).fill('year');
      await button(page, 'Save').click();
      await page.waitForSelector('text=Saved.');
      expect(await declared('birthday')).toMatchObject({
        retention_days: null,
        fields: [{}, { key: 'year' }],
      });
      await button(page, 'Remove this category …').click();
      await page.fill('dialog input', 'birthday');
      await page.locator('dialog button.danger').click();
      await page.waitForSelector('a[href="/console/new-text"]');
      expect((await bot.get('/data/categories/birthday')).status).toBe(404);
    });

    it('have a consent text in both languages, previewed as users see it; a version is registered once', async () => {
      const field = { key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day' };
      await bot.post('/data/register', {
        ...{ key: 'birthday', label_de: 'Geburtstag', label_en: 'Birthday', description_en: HOSTILE },
        fields: [field],
      });
      const page = await opened('/new-text', { ...PHONE, width: 360, language: 'en' });
      await page.getByLabel('Version').fill('1.0');
      const titles = page.getByLabel('Title');
      await titles.nth(0).fill('Dürfen wir?');
      await button(page, 'Register this version').click();
      await page.waitForSelector('.fault:has-text("At least 1 character, not blanks alone")');
      await page.getByLabel('Text', { exact: true }).nth(0).fill('Wir merken uns den Tag.');
      await titles.nth(1).fill(HOSTILE);
      await page.getByLabel('Text', { exact: true }).nth(1).fill('We keep the day.');
      await page.getByLabel('Button to agree').nth(1).fill('Yes, please');
      await page.getByLabel('About Geburtstag').fill('Der Tag, an dem wir gratulieren.');
      expect(await page.textContent('.discord[lang=en]')).toContain('Yes, please');
      expect(await page.textContent('.users-page[lang=de]')).toContain('an dem wir gratulieren');
      await isAccessible();
      await pictured(page, 'text-new-360');
      await button(page, 'Register this version').click();
      await page.waitForSelector('a[href="/console/new-text?from=1.0"]');
      const { texts } = (await bot.get<{ texts: object[] }>('/consents/texts')).data;
      expect(texts).toMatchObject([
        { language: 'de', categories: [{ key: 'birthday', text: 'Der Tag, an dem wir gratulieren.' }] },
        { language: 'en', title: HOSTILE, accept_label: 'Yes, please', categories: [{ text: HOSTILE }] },
      ]);
      await page.click('a[href="/console/new-text?from=1.0"] >> nth=0');
      await page.getByLabel('Version').fill('1.0');
      await titles.nth(0).fill('Dürfen wir wirklich?');
      await button(page, 'Register this version').click();
      await page.waitForSelector('.fault:has-text("choose a new version")');
    });

    it('and texts have no form for a key with the scope read', async () => {
      await bot.post('/data/register', {
        ...{ key: 'c', label_de: HOSTILE, label_en: HOSTILE },
        fields: [{ key: 'f', type: 'json', label_de: HOSTILE, label_en: HOSTILE }],
      });
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
      const page = await opened('/categories', GERMAN, data.api_key as string);
      await page.click('a[href="/console/categories/c"]');
      await page.waitForSelector('td code');
      expect(await page.locator('main :is(form, input, select, textarea)').count()).toBe(0);
      expect(await page.locator('main button:not(.copy):not(.screen)').count()).toBe(0);
      expect(await page.textContent('h1')).toBe(HOSTILE);
      expect(await page.locator('img[src=x]').count()).toBe(0);
      expect(await page.textContent('main > .notice')).toContain(
        'die Rechte schreiben, löschen und verwalten',
      );
      await isAccessible();
      await pictured(page, 'category-read');
    });
  });

  it.each([
    ['/users', undefined],
    ['/categories', 'write and manage'],
    ['/categories/birthday', 'write, erase and manage'],
    ['/new-category', 'write and manage'],
    ['/new-text', 'write and manage'],
    ['/audit', undefined],
    ['/webhooks', 'manage'],
    ['/settings', 'write, erase and manage'],
    ['/notice', 'manage'],
    ['/keys', 'manage'],
  ])(
    'shows a key with the scope read at %s no disabled form, and says that it lacks %s',
    async (address, lacks) => {
      await bot.hasCategory('birthday');
      const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
      const page = await opened(address, DESKTOP, data.api_key as string);
      expect(await page.locator('main :is(input, select, textarea):disabled').count()).toBe(0);
      expect(await page.locator('main form:not([role=search]), main button[type=submit]').count()).toBe(
        address === '/users' ? 1 : 0,
      );
      const lines = await page.locator('main .notice', { hasText: 'Your key lacks' }).allTextContents();
      expect(lines).toEqual(lacks === undefined ? [] : [expect.stringMatching(`(scope|scopes) ${lacks}:`)]);
      await isAccessible();
    },
  );

  describe('keys', () => {
    it('are made with a name, rights and an end; the one of the session is marked', async () => {
      const page = await opened('/keys', { ...PHONE, width: 360 });
      await page.getByLabel('Name').fill(HOSTILE);
      await page.getByLabel('Gültigkeit').selectOption('30');
      await button(page, 'Schlüssel erstellen').dblclick();
      await page.waitForSelector('.notice.good code');
      await page.waitForSelector('td bdi:has-text("img src=x")');
      const { keys } = (await bot.get<{ keys: object[] }>(`/bots/${bot.id}/keys`)).data;
      expect(keys).toMatchObject([
        { name: HOSTILE, scopes: ['read'], expires_at: expect.any(String) as string },
        { expires_at: null },
      ]);
      await page.locator('tr', { hasText: 'diese Sitzung' }).waitFor();
      await page.getByLabel('Name').fill('a'.repeat(61));
      await button(page, 'Schlüssel erstellen').click();
      await page.waitForSelector('.fault:has-text("1 bis 60")');
      await isAccessible();
      await pictured(page, 'keys-360');
    });

    it('have the steps in which the webhook secret is replaced; it is not replaced twice at once', async () => {
      const page = await opened('/keys');
      for (const again of [false, true]) {
        await button(page, 'New webhook secret').click();
        await page.locator('dialog button.danger').click();
        await page.waitForSelector(
          again ? '.notice.bad:has-text("two secrets")' : 'text=Both secrets sign until',
        );
      }
      // The secret that was made is still there: it is shown only once.
      expect(await page.textContent('.notice.good code')).toMatch(/^whsec_/);
      await isAccessible();
      await pictured(page, 'keys-1280');
    });
  });
});
