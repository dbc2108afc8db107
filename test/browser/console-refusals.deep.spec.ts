import type { Locator, Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { subject, type SubjectIds } from '../support/snowflakes';

const WORDS = {
  en: { stats: 'Statistics', inForce: 'Objections and restrictions in force', all: 'everything' },
  de: { stats: 'Statistik', inForce: 'Geltende Widersprüche und Einschränkungen', all: 'alles' },
} as const;

const team = useConsole({ RATE_LIMIT_CONSOLE: '10000' });
const { service } = team;
let bot: Bot;
let user: SubjectIds;

describeInBrowser('objections and restrictions on the page of a user', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
    await bot.hasCategory('birthday');
    const labels = { label_de: WORDS.de.stats, label_en: WORDS.en.stats };
    await bot.hasCategory('stats', undefined, { ...labels, legal_basis: 'legitimate_interests' });
    user = subject();
    await bot.hasConsent(user);
    for (const key of ['birthday', 'stats']) await bot.hasData(user, key, { value: 'Robin' });
  });

  /** The page of the user, after the team has signed in there. */
  const opened = async (view: View = DESKTOP, key = bot.key): Promise<Page> => {
    const page = await team.signsIn(key, { address: `/users/${user.guild_id}/${user.user_id}`, view });
    await page.waitForSelector('[title=data_submitted]');
    return page;
  };
  const inForce = async (): Promise<Record<string, unknown>> =>
    (await bot.get(`/data/refusals/${user.user_id}?guild_id=${user.guild_id}`)).data;
  const refused = async (category: string): Promise<unknown> =>
    (await bot.post('/data/submit', { ...user, category, data: { value: 'x' } })).error.details;
  const attributes = async (of: Locator, name: string): Promise<(string | null)[]> =>
    Promise.all((await of.all()).map((one) => one.getAttribute(name)));
  const record = async (page: Page, option: string): Promise<void> => {
    await page.locator('.link select').selectOption(option);
    await page.getByRole('button', { name: 'Record', exact: true }).click();
  };

  it.each([
    DESKTOP,
    { ...DESKTOP, language: 'de', scheme: 'dark' },
    { ...PHONE, width: 360, language: 'en' },
    { ...PHONE, width: 360, scheme: 'light' },
  ] as const satisfies readonly View[])(
    'are shown with category, time and meaning: $language, $scheme, $width pixels',
    async (view) => {
      const words = WORDS[view.language];
      await bot.post('/data/object', { ...user, category: 'stats' });
      await bot.post('/data/restrict', user);
      const page = await opened(view);
      const section = page.locator('section', { has: page.getByRole('heading', { name: words.inForce }) });
      const lines = section.locator('li');
      // The refusals and the labels of the categories are two answers.
      await lines.getByText(words.stats, { exact: true }).waitFor();
      const [restriction, objection] = await lines.allTextContents();
      const { objections, restrictions } = await inForce();
      expect(restriction).toContain(` ${words.all} `);
      expect(objection).toContain(` ${words.stats} `);
      expect(await attributes(lines.locator('time'), 'datetime')).toStrictEqual(
        [restrictions, objections].map((of) => (of as [{ since: string }])[0].since),
      );
      expect(await team.accessibility()).toStrictEqual([]);
      const name = `${view.language}-${view.scheme}-${view.width}`;
      await pictured(page, `console-refusals-${name}`);
      await page.locator('.actions [aria-expanded]').last().click();
      await page.locator('.link select option').nth(1).waitFor({ state: 'attached' });
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, `console-refusals-open-${name}`);
    },
  );

  it('are not there where nothing is in force', async () => {
    const page = await opened();
    await page.getByRole('button', { name: 'Objection or restriction' }).click();
    // The options are shown once the refusals have been read.
    await page.locator('.link option').nth(1).waitFor({ state: 'attached' });
    expect(await page.getByRole('heading', { name: WORDS.en.inForce }).count()).toBe(0);
  });

  it('are recorded: an objection once the key of its category is typed, a restriction of everything after a question', async () => {
    const page = await opened();
    await page.getByRole('button', { name: 'Objection or restriction' }).click();
    await record(page, 'object stats');
    const confirm = page.locator('dialog button.danger');
    expect(await confirm.isDisabled()).toBe(true);
    expect(await page.textContent('dialog [id$="-note"]')).toContain('erased at once');
    expect(await page.textContent('dialog [id$="-note"]')).toContain('removal of the category');
    expect(await team.accessibility()).toStrictEqual([]);
    await pictured(page, 'console-refusals-confirm');
    await page.fill('dialog input', 'stats');
    await confirm.dblclick();
    await page.waitForSelector('text=The objection is recorded.');
    expect(await refused('stats')).toStrictEqual({ reason: 'objection' });
    // What is in force already is offered no more.
    await page.locator('option[value="object stats"]').waitFor({ state: 'detached' });
    await record(page, 'restrict ');
    await confirm.click();
    await page.waitForSelector('text=The restriction is recorded.');
    expect(await refused('birthday')).toStrictEqual({ reason: 'restriction' });
    const { data } = await bot.export(user);
    expect(data['data']).toStrictEqual({ birthday: { value: 'Robin' } });
    const { objections, restrictions } = await inForce();
    expect([objections, restrictions]).toMatchObject([[{ category: 'stats' }], [{ category: null }]]);
  });

  it('of an objection to everything needs the name of the server typed', async () => {
    const page = await opened();
    await page.getByRole('button', { name: 'Objection or restriction' }).click();
    await record(page, 'object ');
    await page.fill('dialog input', 'stats');
    expect(await page.locator('dialog button.danger').isDisabled()).toBe(true);
    const note = page.locator('dialog [id$="-note"]');
    expect(await note.textContent()).toMatch(/only an erasure of the user ends the objection\.$/);
    await page.fill('dialog input', user.guild_id);
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('text=The objection is recorded.');
    expect(await inForce()).toMatchObject({ objections: [{ category: null }] });
  });

  it('end, a restriction alone, after a question that asks to inform the user', async () => {
    await bot.post('/data/restrict', { ...user, category: 'birthday' });
    await bot.post('/data/object', { ...user, category: 'stats' });
    const page = await opened();
    const end = page.getByRole('button', { name: 'End restriction' });
    await end.click();
    await page.locator('dialog h2', { hasText: 'Category birthday' }).waitFor();
    expect(await page.textContent('dialog [id$="-note"]')).toContain('Inform the user before');
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('text=The restriction has ended.');
    await end.waitFor({ state: 'detached' });
    expect(await inForce()).toMatchObject({ objections: [{ category: 'stats' }], restrictions: [] });
    expect(await page.locator('.refused li').count()).toBe(1);
  });

  it('end all at once with that of everything, which its words say', async () => {
    await bot.post('/data/restrict', user);
    await bot.post('/data/restrict', { ...user, category: 'birthday' });
    const page = await opened();
    await page.getByRole('button', { name: 'End every restriction' }).click();
    expect(await page.textContent('dialog h2')).toContain('End every restriction in');
    await page.locator('dialog button.danger').click();
    await page.locator('.refused').waitFor({ state: 'detached' });
    expect(await inForce()).toMatchObject({ restrictions: [] });
  });

  it('are there of a user about whom nothing else is held, after an erasure', async () => {
    await bot.hasForgotten(user);
    await bot.post('/data/object', user);
    const page = await team.signsIn(bot.key, { address: `/users/${user.guild_id}/${user.user_id}` });
    await page.waitForSelector('.refused li');
    expect(await page.textContent('.refused')).toContain('everything that can be objected to');
    // The removal of a category does not end it.
    await bot.delete('/data/categories/stats');
    expect(await inForce()).toMatchObject({ objections: [{ category: null }] });
    expect(await page.textContent('.refused')).toContain('Only an erasure of the user ends the objection.');
  });

  it.each([
    ['read', []],
    ['write', ['restrict birthday', 'restrict stats']],
    ['erase', ['object ', 'object stats']],
  ] as const)('are offered by scope: %s', async (scope, offered) => {
    await bot.post('/data/restrict', { ...user, category: 'birthday' });
    await bot.post('/data/unrestrict', { ...user, category: 'birthday' });
    const scopes = [...new Set(['read', scope])];
    const { api_key: key } = (await bot.post(`/bots/${bot.id}/keys`, { scopes })).data;
    const page = await opened(DESKTOP, key as string);
    const open = page.getByRole('button', { name: 'Objection or restriction' });
    if (offered.length === 0) return expect(await open.count()).toBe(0);
    await open.click();
    await page.locator('.link option').nth(1).waitFor({ state: 'attached' });
    const values = await attributes(page.locator('.link option'), 'value');
    expect(values).toStrictEqual(['', ...(scope === 'write' ? ['restrict '] : []), ...offered]);
  });
});
