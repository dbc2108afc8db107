import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const team = useConsole({ WEBHOOK_RETRY_SCHEDULE: '1h,1h' });
const { service } = team;
const receiver = useReceiver();
let bot: Bot;

const ROWS = '.deliveries > .scroll > table > tbody > tr';

const signedIn = (view: View = DESKTOP, key = bot.key): Promise<Page> => team.signsIn(key, { view });

async function opened(page: Page, query = ''): Promise<void> {
  await page.goto(`${service.url}/console/webhooks${query}`);
  await page.waitForSelector('.loading', { state: 'detached' });
}

/** The bot withdraws the consents of `count` users; the receiver answers `status`. */
async function withdrawn(count: number, status: number): Promise<void> {
  receiver.status = status;
  for (let n = 0; n < count; n++) {
    const user = subject();
    await bot.hasConsent(user);
    await bot.post('/consents/revoke', user);
  }
  await tried();
}

/** Every call of the bot has an outcome. */
async function tried(): Promise<void> {
  type Listed = { deliveries: { last_outcome: string | null }[] };
  await until(async () => {
    const { data } = await bot.get<Listed>('/webhooks/deliveries?page_size=100');
    return data.deliveries.every(({ last_outcome: outcome }) => outcome !== null);
  });
}

const countOf = (page: Page, selector: string): Promise<number> => page.locator(selector).count();

describeInBrowser('the webhooks of the console in a browser', () => {
  beforeEach(async () => {
    receiver.reset();
    bot = await service.registerBot({ name: 'Birthday bot' });
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
  });

  it('filters by state and event, and keeps the filter in the address', async () => {
    await withdrawn(2, 200);
    await withdrawn(2, 500);
    await bot.post('/webhooks/test', {});
    await tried();
    const page = await signedIn();
    await opened(page);
    await page.waitForSelector(`${ROWS}:nth-child(5)`);
    await page.locator('main select').nth(0).selectOption('pending');
    await page.waitForURL('**/webhooks?status=pending');
    await page.waitForSelector(`${ROWS}:nth-child(3)`, { state: 'detached' });
    expect(await countOf(page, `${ROWS} .badge.pending`)).toBe(2);
    // A test call is tried once.
    await page.locator('main select').nth(0).selectOption('exhausted');
    await page.locator('main select').nth(1).selectOption('ping');
    await page.waitForURL('**/webhooks?status=exhausted&event=ping');
    await page.waitForSelector(`${ROWS}:nth-child(2)`, { state: 'detached' });
    await page.reload();
    await page.waitForSelector(`${ROWS} [title=ping]`);
    expect(await countOf(page, ROWS)).toBe(1);
    await page.locator('main select').nth(0).selectOption('gone');
    await page.waitForSelector('text=No calls with this state and event.');
    expect(await team.accessibility()).toStrictEqual([]);
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.waitForSelector(`${ROWS}:nth-child(5)`);
  });

  it('leads from the undelivered calls to each of their states', async () => {
    // A receiver that answers 410 ends the call.
    await withdrawn(1, 410);
    const page = await signedIn();
    await opened(page);
    for (const [name, status] of [
      ['given up', 'exhausted'],
      ['ended by the receiver', 'gone'],
      ['dropped, no address', 'cancelled'],
    ]) {
      await page.locator('.health').getByRole('link', { name }).click();
      await page.waitForURL(`**/webhooks?status=${status}`);
      expect(await page.locator('main select').first().inputValue()).toBe(status);
    }
  });

  it('walks to older calls by a cursor, also after a new one and a reload', async () => {
    await withdrawn(23, 200);
    const page = await signedIn();
    await opened(page);
    await page.waitForSelector(`${ROWS}:nth-child(20)`);
    const older = page.getByRole('button', { name: 'Older' });
    const newer = page.getByRole('button', { name: 'Newer' });
    expect(await newer.isDisabled()).toBe(true);
    await older.click();
    await page.waitForSelector(`${ROWS}:nth-child(4)`, { state: 'detached' });
    expect(await countOf(page, ROWS)).toBe(3);
    expect(await older.isDisabled()).toBe(true);
    await withdrawn(1, 200);
    await page.reload();
    await page.waitForSelector(`${ROWS}:nth-child(3)`);
    expect(await countOf(page, ROWS)).toBe(3);
    await newer.click();
    await page.waitForURL('**/console/webhooks');
    await page.waitForSelector(`${ROWS}:nth-child(20)`);
  });

  it('says that a place of an address is none of this list, and leads back', async () => {
    await withdrawn(1, 200);
    const page = await signedIn();
    await opened(page, `?after=${encodeURIComponent('"><img src=x onerror=alert(1)>')}&status=unknown`);
    await page.waitForSelector('[role=alert]');
    expect(await page.textContent('[role=alert]')).toContain('pagination.next');
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.waitForSelector(ROWS);
    expect(await countOf(page, 'img[src=x]')).toBe(0);
  });

  it.each([
    ['on a wide screen', DESKTOP, 'failing 2 failed attempts in a row', 'refused by the receiver'],
    ['in German, 320 px wide', PHONE, 'gestört 2 Fehlversuche in Folge', 'vom Empfänger abgelehnt'],
  ] as const)('says where calls go, since when they fail, and why, %s', async (_, view, state, why) => {
    await withdrawn(1, 200);
    await withdrawn(2, 500);
    const page = await signedIn(view);
    await opened(page);
    const facts = await page.textContent('.health');
    for (const part of [receiver.url, state, why]) expect(facts).toContain(part);
    expect(await countOf(page, '.health time')).toBe(2);
    await page.click('.health a[href$="status=pending"]');
    await page.waitForSelector(`${ROWS}:nth-child(3)`, { state: 'detached' });
    expect(await countOf(page, `${ROWS} .badge.pending`)).toBe(2);
    expect(await team.accessibility()).toStrictEqual([]);
  });

  it.each([
    ['in English', DESKTOP, /^due since .+; waits until the receiver answers again$/],
    [
      'in German',
      { ...DESKTOP, language: 'de' },
      /^fällig seit .+; wartet, bis der Empfänger wieder antwortet$/,
    ],
  ] as const)(
    'says of a call that is due that it waits for the receiver, and cuts no outcome, %s',
    async (_, view, says) => {
      await withdrawn(2, 500);
      const page = await signedIn(view);
      // As of a call behind others that have failed.
      await page.route('**/webhooks/deliveries**', async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as { data: { deliveries: object[] } };
        const behind = { attempt_count: 0, last_outcome: null, last_status_code: null };
        Object.assign(answer.data.deliveries[0] ?? {}, {
          ...behind,
          next_attempt_at: '2026-01-01T00:00:00.000Z',
        });
        await route.fulfill({ response, json: answer });
      });
      await opened(page);
      const outcomes = page.locator(`${ROWS} > td:nth-child(5) > div`);
      await outcomes.getByText(says).waitFor();
      expect(await outcomes.first().textContent()).toMatch(says);
      const cut = await page.evaluate<number>(
        `[...document.querySelectorAll('${ROWS} > td:nth-child(5) > div')].filter((each) => each.scrollWidth > each.clientWidth).length`,
      );
      expect(cut).toBe(0);
      expect(await team.accessibility()).toStrictEqual([]);
    },
  );

  it('sends the calls since a time again after a confirmation that names the receiver', async () => {
    await withdrawn(2, 200);
    await withdrawn(1, 410);
    receiver.status = 200;
    const page = await signedIn();
    await opened(page);
    await page.getByText('Send again since a time').click();
    const since = page.locator('input[type=datetime-local]');
    const ask = page.getByRole('button', { name: 'Send again …' });
    await since.fill('2999-01-01T00:00');
    await ask.click();
    await page.waitForSelector('text=The time is in the future.');
    expect(await countOf(page, 'dialog')).toBe(0);
    expect(await team.accessibility()).toStrictEqual([]);
    await since.fill('2020-01-01T00:00');
    await ask.click();
    expect(await page.textContent('dialog')).toContain(new URL(receiver.url).host);
    expect(await team.accessibility()).toStrictEqual([]);
    await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.waitForSelector('dialog', { state: 'detached' });
    const calls = receiver.calls.length;
    expect(calls).toBe(3);
    await ask.click();
    await page.locator('dialog button.danger').dblclick();
    await page.waitForSelector('text=Calls that are sent again: 1.');
    await receiver.received(calls + 1);
    // A call that is still pending is not sent again.
    await until(async () => {
      const { data } = await bot.get<{ deliveries: object[] }>('/webhooks/deliveries?status=pending');
      return data.deliveries.length === 0;
    });
    await page.getByLabel('Only undelivered calls').uncheck();
    await ask.click();
    expect(await page.textContent('dialog')).toContain('delivered ones too');
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('text=Calls that are sent again: 3.');
    await receiver.received(calls + 4);
  });

  it('shows a key with the scope read every call and its attempts, and nothing to send', async () => {
    await withdrawn(1, 500);
    const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const page = await signedIn(DESKTOP, data.api_key as string);
    await opened(page);
    await page.locator(`${ROWS} button[aria-expanded]`).click();
    await page.waitForSelector('td.below [title=refused]');
    const texts = await page.locator('main button').allTextContents();
    expect(texts.filter((text) => /test|Try|Send/i.test(text))).toEqual([]);
    expect(await countOf(page, '.replay')).toBe(0);
  });

  it('says that a bot without an address makes no calls, and offers none', async () => {
    await bot.put(`/bots/${bot.id}`, { webhook_url: null });
    const page = await signedIn();
    await opened(page);
    await page.waitForSelector('text=so that no calls are made');
    await page.waitForSelector('text=No calls yet.');
    const erased = subject();
    await bot.hasConsent(erased);
    await bot.hasForgotten(erased);
    await page.reload();
    await page.waitForSelector(`${ROWS} .badge.cancelled`);
    expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Send a test call' }).count()).toBe(0);
    expect(await countOf(page, '.replay')).toBe(0);
    expect(await team.accessibility()).toStrictEqual([]);
  });
});
