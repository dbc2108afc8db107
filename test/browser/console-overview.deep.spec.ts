import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, type View } from '../support/browser';
import { useConsole } from '../support/console';
import { useReceiver } from '../support/receiver';
import { seal } from '../support/sealing';
import { subject } from '../support/snowflakes';
import { ago, amidDay } from '../support/time';
import { until } from '../support/until';

const team = useConsole({ WEBHOOK_RETRY_SCHEDULE: '1h,1h' });
const { service } = team;
const receiver = useReceiver();
let bot: Bot;

const DAY_MS = 86_400_000;
const HOSTILE = `"><img src=x onerror=alert(1)>`;
const CATEGORY = {
  ...{ key: 'birthday', label_de: 'Geburtstag', label_en: 'Birthday', legal_basis: 'consent' },
  fields: [{ key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day' }],
};

const signedIn = (view: View = DESKTOP, key = bot.key): Promise<Page> => team.signsIn(key, { view });

/** What a card says: its number, and the one before. */
async function card(page: Page, path: string): Promise<(string | null)[]> {
  const found = page.locator(`.cards a.card[href="/console${path}"]`).first();
  await found.waitFor();
  return Promise.all(['.number', '.change'].map((part) => found.locator(part).textContent()));
}

/** The counts of today once more, some days earlier. */
async function countedAlso(daysAgo: number): Promise<void> {
  await seal(service, bot);
  const hours = Array.from({ length: 24 }, (_, hour) => `h${String(hour).padStart(2, '0')}`).join(', ');
  await service.database.run(
    `INSERT INTO stats_counts (bot_id, day, name, writer, ${hours})
     SELECT bot_id, date(day, ?), name, writer, ${hours} FROM stats_counts WHERE bot_id = ?`,
    ...[`-${daysAgo} days`, bot.id],
  );
}

describeInBrowser('the overview of the console in a browser', () => {
  beforeEach(async () => {
    receiver.reset();
    bot = await service.registerBot({ name: 'Birthday bot' });
  });

  it.each([
    ['on a wide screen', DESKTOP],
    ['in German, dark, 320 px wide', PHONE],
  ])('says to a new bot what to do first, and ticks what is done, %s', async (_, view) => {
    const page = await signedIn(view);
    const done = page.locator('.first-steps li.done');
    const steps = page.locator('.first-steps li');
    await steps.nth(2).waitFor();
    expect([await steps.count(), await done.count()]).toEqual([3, 0]);
    const code = page.locator('.first-steps details[open] pre');
    expect(await code.textContent()).toContain(`curl -X POST ${service.url}/api/v1/data/register`);
    expect(await page.locator('.cards').count()).toBe(0);
    expect(await team.accessibility()).toStrictEqual([]);

    await bot.post('/data/register', CATEGORY);
    await page.reload();
    await done.nth(0).waitFor();
    expect(await code.textContent()).toContain('/consents/request');
    await bot.hasConsent(subject());
    await page.reload();
    await done.nth(1).waitFor();
    expect(await code.textContent()).toContain(`-X PUT ${service.url}/api/v1/bots/${bot.id}`);
    expect(await team.accessibility()).toStrictEqual([]);
    await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
    await page.reload();
    await page.waitForSelector('.cards.now');
    await page.waitForSelector('.chart canvas');
    expect(await steps.count()).toBe(0);
  });

  it('offers to a new bot code that does what it says', async () => {
    const page = await signedIn();
    await page.locator('.first-steps li pre').first().waitFor();
    for (const code of await page.locator('.first-steps li pre').allTextContents())
      for (const [, method = '', path = '', body = ''] of code.matchAll(
        /curl -X (\w+) \S+\/api\/v1(\S+)[^']*'Content-Type: application\/json' \\\n {2}-d '([^']*)'/g,
      )) {
        const send = method === 'PUT' ? bot.put : bot.post;
        const answer = await send.call(bot, path, JSON.parse(body) as Record<string, unknown>);
        expect([path, answer.status < 300]).toEqual([path, true]);
      }
    await page.reload();
    await page.waitForSelector('.cards.now');
    expect(await page.locator('.first-steps').count()).toBe(0);
  });

  it('counts a period against the one before, keeps it in the address, and leads to what was counted', async () => {
    for (let n = 0; n < 3; n++) await bot.hasConsent(subject());
    await countedAlso(10);
    await bot.hasConsent(subject());
    const page = await signedIn();
    const accepted = '/audit?type=consent_accepted';
    expect(await card(page, accepted)).toEqual(['7', 'before: 0']);
    await page.getByRole('link', { name: '7 days' }).click();
    await page.waitForURL('**/console/?period=7d');
    await page.locator('.cards .change', { hasText: 'before: 3' }).first().waitFor();
    expect(await card(page, accepted)).toEqual(['4', '+33% · before: 3']);
    await page.reload();
    await page.waitForSelector('.periods a[aria-current=true][href$="7d"]');
    expect(await card(page, accepted)).toEqual(['4', '+33% · before: 3']);
    await page.goBack();
    await page.waitForSelector('.periods a[aria-current=true][href$="30d"]');
    await page.locator('.cards .number', { hasText: '7' }).first().waitFor();
    await page.locator(`a.card[href="/console${accepted}"]`).click();
    await page.waitForURL(`**/console${accepted}`);
    await page.waitForSelector('.log tbody');
    const kinds = await page.locator('.log tbody td:nth-child(2) span').allTextContents();
    expect(new Set(kinds)).toEqual(new Set(['consent given']));
  });

  it.each([
    ['24h', 24],
    ['7d', 7],
    ['90d', 90],
  ])('draws %s with a bar for each moment, and a legend without numbers', async (key, moments) => {
    const user = subject();
    await bot.hasConsent(user);
    await bot.hasForgotten(user);
    const page = await signedIn();
    await page.goto(`${service.url}/console/?period=${key}`);
    await page.waitForSelector('.chart canvas');
    expect(await page.locator('.plot canvas').count()).toBe(4);
    expect(await page.locator('.legend b').count()).toBe(0);
    expect(await page.locator('.sparkline').first().locator('rect').count()).toBe(moments);
    await page.getByText('The numbers as tables').click();
    expect(await page.locator('details[open] table').count()).toBe(4);
    expect(await team.accessibility()).toStrictEqual([]);
  });

  it.each([
    ['on a wide screen', DESKTOP, '+50% · before: 10 · counted ', 'The numbers as tables'],
    [
      'in German, dark, 360 px wide',
      { ...PHONE, width: 360 },
      '+50\u00a0% · zuvor: 10 · gezählt ',
      'Die Zahlen als Tabellen',
    ],
  ] as const)(
    'plots the users under consent, says when they were counted, and leads to them once, %s',
    async (_, view, said, asTable) => {
      await amidDay();
      // A day without a process has no number.
      for (const past of [0, 1, 2, 3, 4, 6, 7, 8]) {
        const row = [bot.id, ago(past * DAY_MS).slice(0, 10), past < 7 ? 15 : 10, ago(past * DAY_MS)];
        await service.database.run(
          'INSERT INTO stats_consents (bot_id, day, total, counted_at) VALUES (?, ?, ?, ?)',
          ...row,
        );
      }
      await bot.hasConsent(subject());
      const page = await signedIn(view);
      await page.goto(`${service.url}/console/?period=7d`);
      const own = page.locator('.consents');
      await own.locator('canvas').waitFor();
      expect(await own.locator('.number').textContent()).toBe('15');
      expect(await own.locator('.change').textContent()).toContain(said);
      expect(await page.locator('main a[href="/console/users?status=accepted"]').count()).toBe(1);
      await own.getByText(asTable).click();
      expect(await own.locator('tbody td:nth-child(2)').allTextContents()).toEqual(
        Array.from({ length: 6 }, () => '15'),
      );
      expect(await team.accessibility()).toStrictEqual([]);
      // Hours have no number of their own.
      await page.goto(`${service.url}/console/?period=24h`);
      await page.waitForSelector('.plots canvas');
      expect([await own.locator('.number').textContent(), await own.locator('canvas').count()]).toEqual([
        '15',
        0,
      ]);
    },
  );

  it.each([
    ['on a wide screen', DESKTOP, 'refused by the receiver · 2 failed attempts in a row · '],
    ['in German, 360 px wide', { ...PHONE, width: 360 }, 'vom Empfänger abgelehnt · 2 Fehlversuche in Folge'],
  ] as const)(
    'says that the webhook fails, why, and what the last test call was answered, %s',
    async (_, view, why) => {
      await bot.put(`/bots/${bot.id}`, { webhook_url: receiver.url });
      receiver.status = 500;
      const user = subject();
      await bot.hasConsent(user);
      await bot.post('/consents/revoke', user);
      await bot.post('/webhooks/test', {});
      await until(async () => {
        const { data } = await bot.get<{ webhook_health: { consecutive_failures: number } }>('/bots/me');
        return data.webhook_health.consecutive_failures === 2;
      });
      const page = await signedIn(view);
      expect((await card(page, '/webhooks'))[1]).toContain(why);
      expect((await card(page, '/webhooks?status=pending'))[0]).toBe('1');
      // A test call is tried once.
      await page.waitForSelector('a.card[href="/console/webhooks?event=ping"] [title=exhausted]');
      expect((await card(page, '/webhooks?event=ping'))[1]).toMatch(/Status 500 · [\d.,]+ ms · /);
      expect(await team.accessibility()).toStrictEqual([]);
    },
  );

  it('takes a hostile period of an address for none', async () => {
    await bot.hasConsent(subject());
    const page = await signedIn();
    await page.goto(`${service.url}/console/?period=${encodeURIComponent(HOSTILE)}`);
    await page.waitForSelector('.periods a[aria-current=true][href$="30d"]');
    await page.waitForSelector('.chart canvas');
    expect(await page.locator('img[src=x]').count()).toBe(0);
  });
});
