import { readFile } from 'node:fs/promises';
import { type AuditProof, type KeySet, verifyAuditExport, verifyAuditProof } from '@lethe/sdk/evidence';
import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { seal } from '../support/sealing';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
/** In place of the dialog that asks for a file: a file of the page itself. */
const PICKER = `globalThis.showSaveFilePicker = async ({ suggestedName }) =>
  (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });`;
const NO_PICKER = 'delete globalThis.showSaveFilePicker;';

const team = useConsole();
const { service } = team;
let bot: Bot;
let user: SubjectIds;
let gone: SubjectIds;
let keys: KeySet;

describeInBrowser('the audit log in a browser', () => {
  beforeAll(async () => {
    keys = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    bot = await service.registerBot({ name: 'Birthday bot' });
    await bot.hasCategory('birthday');
    const servers = [snowflake(), snowflake()];
    for (const [at, guild_id] of servers.entries())
      await bot.post('/servers/register', { guild_id, name: ['Chess club', 'Garden friends'][at] });
    for (let n = 0; n < 12; n++) {
      user = { user_id: snowflake(), guild_id: servers[n % 2] ?? '' };
      await bot.hasConsent(user);
      await bot.hasData(user, 'birthday', { value: `1 May, no. ${n}` });
    }
    gone = subject();
    await bot.hasConsent(gone);
    await bot.hasForgotten(gone);
    await bot.post('/audit/event', {
      ...user,
      event_type: 'data_exported',
      details: { actor: 'operator', [HOSTILE]: HOSTILE, nested: [{ a: 'ü' }, null], long: 'W'.repeat(2_000) },
    });
    await seal(service, bot);
  });

  /** The page of the log of a team that has signed in. */
  async function opened(view: View = DESKTOP, search = '', script = NO_PICKER): Promise<Page> {
    const page = await team.signsIn(bot.key, { address: `/audit${search}`, view, script });
    await page.waitForSelector('.log');
    return page;
  }

  const rows = (page: Page) => page.locator('.log tbody tr');
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const shownEvents = (page: Page) => page.locator('.log tbody td:nth-child(2) span').allTextContents();

  /** What the rows show that does not change as they age. */
  async function shownUsersAndTimes(page: Page): Promise<readonly (string | null)[]> {
    const times = await page.locator('.log tbody time').all();
    return [
      ...(await page.locator('.log tbody td:nth-child(4)').allTextContents()),
      ...(await Promise.all(times.map((time) => time.getAttribute('datetime')))),
    ];
  }

  async function downloaded(page: Page, act: () => Promise<void>): Promise<[name: string, text: string]> {
    const [file] = await Promise.all([page.waitForEvent('download'), act()]);
    return [file.suggestedFilename(), await readFile(await file.path(), 'utf8')];
  }

  it('shows 20 rows of 36 px on one screen, and is accessible', async () => {
    const page = await opened();
    expect(await rows(page).count()).toBe(20);
    const boxes = await Promise.all([...Array(20).keys()].map((at) => rows(page).nth(at).boundingBox()));
    expect(boxes.filter((box) => Math.round(box?.height ?? 0) > 37)).toEqual([]);
    const last = boxes.at(-1);
    expect((last?.y ?? Infinity) + (last?.height ?? 0)).toBeLessThanOrEqual(900);
    expect(await team.accessibility()).toStrictEqual([]);
    await pictured(page, 'console-audit', DESKTOP, false);
  });

  it.each([
    ['320 px wide, in German, dark', PHONE],
    ['360 px wide, in German', { ...PHONE, width: 360, scheme: 'light' }],
  ] as const)('is accessible %s, also unfolded', async (_, view) => {
    const page = await opened(view);
    await page.locator('.log-line').first().click();
    await page.waitForSelector('td.below');
    expect(await team.accessibility()).toStrictEqual([]);
    expect(await page.textContent('main')).toContain('Einwilligung erteilt');
  });

  it('cuts no time of its first column', async () => {
    const page = await opened({ ...DESKTOP, language: 'de' });
    const cut = await page.evaluate<boolean>(`{
      const time = document.querySelector('.log tbody time');
      time.textContent = 'vor 59 Minuten';
      time.closest('div').scrollWidth > time.closest('div').clientWidth;
    }`);
    expect(cut).toBe(false);
  });

  it('has words for what the service writes into details, and labels for categories', async () => {
    const page = await opened({ ...DESKTOP, language: 'de' }, '?type=data_submitted');
    await page.locator('.log-line bdi', { hasText: 'Kategorie: Kategorie birthday' }).first().waitFor();
  });

  it('unfolds an event: everything as text, and no actor that a bot has made up', async () => {
    const page = await opened();
    const row = rows(page).first();
    expect(await row.textContent()).toContain('Entry of the bot');
    await row.locator('.log-line').click();
    const below = page.locator('td.below');
    expect(await below.textContent()).toContain(HOSTILE);
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(await team.accessibility()).toStrictEqual([]);
    await button(page, 'Only this user').click();
    await page.waitForURL(`**/audit?user=${user.user_id}`);
    expect(await page.locator('td.below').count()).toBe(0);
    await page.waitForSelector('.loading', { state: 'detached' });
    expect(await rows(page).count()).toBe(4);
  });

  it('filters by type, server, user, source and time, in the address', async () => {
    const page = await opened();
    const [type, server, source] = [0, 1, 2].map((at) => page.locator('.log-filters select').nth(at));
    await type?.selectOption('data_submitted');
    await page.waitForURL('**/audit?type=data_submitted');
    await page.waitForSelector('text=Entries: 12');
    expect(new Set(await shownEvents(page))).toEqual(new Set(['data stored']));
    await server?.selectOption({ label: 'Chess club' });
    await page.waitForSelector('text=Entries: 6');
    await button(page, 'Clear filters').click();
    await page.waitForURL('**/console/audit');
    await source?.selectOption('client');
    await page.waitForURL('**/audit?source=client');
    await until(async () => (await rows(page).count()) === 1);
    expect(await shownEvents(page)).toEqual(['data exported']);
    await page.goBack();
    await until(async () => (await rows(page).count()) === 20);
    const [from, to] = [0, 1].map((at) => page.locator('.log-filters input[type=date]').nth(at));
    await from?.fill('2020-01-01');
    await page.waitForURL('**/audit?from=2020-01-01');
    await until(async () => (await rows(page).count()) === 20);
    await to?.fill('2020-01-02');
    await page.waitForSelector('text=No event fits these filters.');
  });

  it('takes filters from the address, and names what it does not understand', async () => {
    const page = await opened(DESKTOP, `?user=${gone.user_id}&type=none&server=${HOSTILE}`);
    expect(await page.textContent('.notice.warn')).toContain('type=none');
    expect(await page.textContent('.notice.warn')).toContain(HOSTILE);
    expect(await rows(page).count()).toBeGreaterThan(2);
    expect(await page.textContent('.log tbody')).toContain('erased');
    expect(await page.textContent('.log tbody')).not.toContain(gone.user_id);
  });

  it('walks to older events and back, with the place in the address', async () => {
    const page = await opened();
    const first = await shownUsersAndTimes(page);
    await button(page, 'Older').click();
    await page.waitForURL(/after=/);
    await page.waitForSelector('.loading', { state: 'detached' });
    await until(async () => (await rows(page).count()) > 1);
    const second = await shownUsersAndTimes(page);
    expect(second).not.toEqual(first);
    await page.reload();
    await page.waitForSelector('.log tbody');
    expect(await shownUsersAndTimes(page)).toEqual(second);
    await button(page, 'Newer').click();
    await page.waitForURL('**/console/audit');
    await page.waitForSelector('.log tbody');
    expect(await shownUsersAndTimes(page)).toEqual(first);
  });

  it.each([
    ['in English', DESKTOP, 'Check this event', 'Download proof', /^It holds: /],
    [
      'in German',
      { ...DESKTOP, language: 'de' },
      'Dieses Ereignis prüfen',
      'Nachweis herunterladen',
      /^Es st/,
    ],
  ] as const)(
    'checks one event in the browser, and gives its proof, %s',
    async (_, view, check, proof, holds) => {
      const page = await opened(view);
      await page.locator('.log-line').nth(3).click();
      await button(page, check).click();
      expect(await page.textContent('td.below .notice.good')).toMatch(holds);
      const [, text] = await downloaded(page, () => button(page, proof).click());
      expect(verifyAuditProof(JSON.parse(text) as AuditProof, keys)['bot_id']).toBe(bot.id);
    },
  );

  it('says that an event does not hold whose proof was changed on its way', async () => {
    const page = await opened();
    await page.route('**/audit/proof/*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replace('"leaf_index":', '"x":') });
    });
    await page.locator('.log-line').nth(3).click();
    await button(page, 'Check this event').click();
    expect(await page.textContent('td.below .notice.bad')).toMatch(/^It does not hold: the event is not/);
  });

  it('says why the service gives no proof', async () => {
    const page = await opened();
    const error = { code: 'service_unavailable', message: 'The disk of the database is full' };
    await page.route('**/audit/proof/*', (route) =>
      route.fulfill({ status: 503, json: { success: false, error } }),
    );
    await page.locator('.log-line').nth(3).click();
    await button(page, 'Check this event').click();
    await page.locator('td.below [role=alert]', { hasText: error.message }).waitFor();
  });

  it('checks the whole log and what the page shows of it', async () => {
    const page = await opened();
    await button(page, 'Check the whole log').click();
    const total = /Entries: (\d+)/.exec((await page.textContent('.pager')) ?? '')?.[1];
    const said = await page.textContent('#log-finding .notice.good');
    expect(said).toContain(`The log holds: none of its events (${total}) was changed`);
    expect(said).toContain('The 20 events on this page are in it as they are shown');
    expect(await team.accessibility()).toStrictEqual([]);
    await page.locator('.log-filters select').first().selectOption('deletion_completed');
    await page.waitForSelector('text=Entries: 1');
    // What was said of the page before is not said of this one.
    expect(await page.textContent('#log-finding')).not.toContain('on this page');
    await button(page, 'Check the whole log').click();
    await page.waitForSelector('text=The event on this page is in it as it is shown.');
  });

  it.each([
    [
      'a log that was changed',
      (text: string) => text.replace('"data_submitted"', '"data_exported"'),
      /Zeile \d+: Ein/,
    ],
    [
      'a log that was cut',
      (text: string) => text.slice(0, text.lastIndexOf('{')),
      /Seine letzte Zeile fehlt/,
    ],
  ])('says in German what is wrong with %s', async (_, change, reason) => {
    const page = await opened({ ...DESKTOP, language: 'de' });
    await page.route('**/audit/export', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: change(await answer.text()) });
    });
    await button(page, 'Das ganze Protokoll prüfen').click();
    expect(await page.textContent('#log-finding .notice.bad')).toMatch(reason);
  });

  it('shows how far a check is, and ends it when it is cancelled', async () => {
    const page = await opened();
    await page.route('**/audit/export', () => undefined);
    await button(page, 'Check the whole log').click();
    await page.waitForSelector('.log-tools progress');
    expect(await page.textContent('.log-tools .outcome')).toMatch(/^0 of \d+ events checked/);
    await button(page, 'Cancel').click();
    await page.waitForSelector('text=The check was cancelled.');
    expect(await button(page, 'Check the whole log').isEnabled()).toBe(true);
  });

  it('writes the sealed log to a file in parts, where the browser can', async () => {
    const page = await opened(DESKTOP, '', PICKER);
    await button(page, 'Download the sealed log').click();
    await page.waitForSelector('text=The log is saved.');
    const text = await page.evaluate<string>(`navigator.storage.getDirectory()
      .then((folder) => folder.getFileHandle('lethe-audit-${bot.id}.ndjson'))
      .then((file) => file.getFile()).then((file) => file.text())`);
    expect((await verifyAuditExport(text.split('\n'), keys)).botId).toBe(bot.id);
  });

  it('gives the sealed log as a download elsewhere', async () => {
    const page = await opened();
    const [name, text] = await downloaded(page, () => button(page, 'Download the sealed log').click());
    expect(name).toBe(`lethe-audit-${bot.id}.ndjson`);
    expect((await verifyAuditExport(text.split('\n'), keys)).botId).toBe(bot.id);
  });

  it('gives the filtered list as CSV and as JSON', async () => {
    const page = await opened(DESKTOP, `?user=${user.user_id}`);
    const [, csv] = await downloaded(page, () => button(page, 'List as CSV').click());
    expect(csv.trimEnd().split('\r\n')).toHaveLength(5);
    const [, json] = await downloaded(page, () => button(page, 'List as JSON').click());
    expect((JSON.parse(json) as SubjectIds[]).map(({ user_id }) => user_id)).toEqual(
      Array(4).fill(user.user_id),
    );
    await page.waitForSelector('text=Rows in the file: 4, all that fit');
  });
});
