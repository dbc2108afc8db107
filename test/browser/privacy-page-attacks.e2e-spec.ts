import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Clock } from '@app/kernel';
import type { Browser, Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { DESKTOP, describeInBrowser, startBrowser, type View, WatchedPage } from '../support/browser';
import { Client } from '../support/client';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

jest.setTimeout(120_000);

const service = useServiceInProcess();
let browser: Browser;
let bot: Bot;
let who: SubjectIds;
let watched: WatchedPage;

describeInBrowser('the privacy page in a browser', () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
    who = subject();
    await bot.hasCategory('birthday');
    await bot.hasConsent(who);
    await bot.hasData(who, 'birthday', { value: '1 May' });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    const faults = watched.faults.splice(0);
    await watched.page.context().close();
    expect(faults).toStrictEqual([]);
  });

  const linkOf = async (about: SubjectIds = who): Promise<{ id: string; url: string }> =>
    (await bot.post<{ id: string; url: string }>('/privacy-links', { ...about })).data;

  async function opened(url: string, view: View = DESKTOP): Promise<Page> {
    watched = await WatchedPage.open(browser, service.url, view);
    await watched.page.goto(url);
    return watched.page;
  }

  const ended = (page: Page) => page.getByRole('heading', { name: 'This link is not valid' }).waitFor();

  it.each([360, 3840])(
    'is no wider than a window of %d pixels, and loses nothing at 200 %%',
    async (width) => {
      const page = await opened((await linkOf()).url, { ...DESKTOP, width });
      expect(await watched.accessibility()).toStrictEqual([]);
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      expect(await watched.accessibility()).toStrictEqual([]);
    },
  );

  it('asks for one document and nothing else, in at most 50 KB', async () => {
    watched = await WatchedPage.open(browser, service.url);
    const { page } = watched;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.resourceType()));
    const response = await page.goto((await linkOf()).url);
    await page.waitForLoadState('networkidle');
    expect(asked).toStrictEqual(['document']);
    expect((await response?.body())?.byteLength).toBeLessThan(50_000);
  });

  it('ends in front of its reader: by its time, by DELETE, by the key of the bot', async () => {
    const page = await opened((await linkOf()).url);
    const later = new Date(Date.now() + 901_000).toISOString();
    jest.spyOn(service.app.get(Clock), 'nowIso').mockReturnValue(later);
    await page.getByRole('button', { name: 'Withdraw my whole consent' }).click();
    await ended(page);
    jest.restoreAllMocks();
    expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
    const deleted = await linkOf();
    await page.goto(deleted.url);
    await bot.delete(`/privacy-links/${deleted.id}`);
    await page.getByRole('button', { name: 'Download as JSON' }).click();
    await ended(page);
    expect(await bot.eventTypes(who)).not.toContain('data_exported');
    const { data: key } = await bot.post<{ id: string; api_key: string }>(`/bots/${bot.id}/keys`, {
      scopes: ['admin'],
    });
    const made = await new Client(service.url, key.api_key).post<{ url: string }>('/privacy-links', {
      ...who,
    });
    await page.goto(made.data.url);
    await bot.delete(`/bots/${bot.id}/keys/${key.id}`);
    await page.getByRole('link', { name: 'Erase …' }).click();
    await ended(page);
    expect(await watched.accessibility()).toStrictEqual([]);
  });

  it('shows one user nothing of another one, of its own bot or of another', async () => {
    const other = subject();
    await bot.hasConsent(other);
    await bot.hasData(other, 'birthday', { value: 'a day of somebody else' });
    const page = await opened((await linkOf()).url);
    expect(await page.textContent('body')).not.toContain('somebody else');
    // Another guild in the form of the page, which is that of another user.
    await page.$$eval(
      'input[name=guild]',
      (inputs, guild) => inputs.forEach((input) => ((input as { value?: string }).value = guild)),
      other.guild_id,
    );
    await page.getByRole('button', { name: 'Withdraw my whole consent' }).click();
    await page.getByRole('heading', { name: 'This is not possible here' }).waitFor();
    for (const each of [who, other])
      expect((await bot.status(each)).data).toMatchObject({ status: 'accepted' });
  });

  it('does an act whose answer is lost once, and says what is true afterwards', async () => {
    const { url } = await linkOf();
    const page = await opened(`${url}/forget`);
    await page.route('**/forget', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Yes, erase everything' }).click();
    await page.waitForURL('chrome-error://**');
    await page.unroute('**/forget');
    expect((await bot.export(who)).status).toBe(404);
    // The form is sent again by the reader, within the minute: the certificate is not lost.
    await page.reload();
    await page.getByRole('heading', { name: 'Your data is erased' }).waitFor();
    expect((await bot.eventTypes(who)).filter((type) => type === 'deletion_completed')).toHaveLength(1);
    await page.goto(url);
    await ended(page);
    // The browser's own page of the lost connection.
    watched.faults.splice(0);
  });

  it('gives the certificate to keep, as a file', async () => {
    const page = await opened(`${(await linkOf()).url}/forget`);
    await page.getByRole('button', { name: 'Yes, erase everything' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the certificate' }).click();
    const file = JSON.parse(readFileSync(await (await download).path(), 'utf8')) as Record<string, string>;
    expect(Object.keys(file).sort()).toStrictEqual(['certificate', 'certificate_salt', 'request_id']);
    expect(file['certificate']).toBe(await page.locator('textarea').inputValue());
  });

  it('is shown in no frame of another origin, takes no form of one, and tells it no address', async () => {
    const { url } = await linkOf();
    const referers: (string | undefined)[] = [];
    const fields = ['mark', 'guild', 'lang'].map((name) => `<input name="${name}" value="x">`).join('');
    const other = createServer((request, response) => {
      referers.push(request.headers.referer);
      response.setHeader('content-type', 'text/html');
      response.end(
        `<iframe src="${url}"></iframe><form method="post" action="${url}/forget">${fields}<button>Win</button></form>`,
      );
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      const page = await opened(url);
      await page.evaluate(`location.href = '${origin}'`);
      await page.getByRole('button', { name: 'Win' }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.frames()[1]?.locator('form, section').count()).toBe(0);
      for (const referer of referers) expect(referer ?? '').not.toContain(url.slice(service.url.length));
      await page.getByRole('button', { name: 'Win' }).click();
      await page.getByRole('heading', { name: 'This is not possible here' }).waitFor();
      expect((await bot.export(who)).status).toBe(200);
    } finally {
      other.close();
      // The other origin and the refused frame are what this test is about.
      watched.faults.length = 0;
    }
  });
});
