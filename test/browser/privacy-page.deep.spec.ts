import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import {
  describeInBrowser,
  DESKTOP,
  PHONE,
  pictured,
  useBrowser,
  type View,
  WAIT_MAX_MS,
} from '../support/browser';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
const VIEWS: readonly View[] = [
  DESKTOP,
  PHONE,
  { ...DESKTOP, language: 'de' },
  { ...PHONE, scheme: 'light', language: 'en' },
];

const service = useServiceInProcess();
const visitor = useBrowser();
let bot: Bot;
const PURPOSES = { de: 'Um dir zum Geburtstag zu gratulieren', en: 'To congratulate members' };
let who: SubjectIds;

/** Where the first and the last sign of "Line two." are, from the left. */
const ends = (page: Page, selector: string): Promise<number[]> =>
  page.evaluate<number[]>(`{
    const bdi = [...document.querySelectorAll('${selector}')].find((each) => each.textContent.includes('Line two.'));
    const text = bdi.firstChild;
    ['L', '.'].map((sign) => {
      const range = document.createRange();
      range.setStart(text, text.data.lastIndexOf(sign));
      range.setEnd(text, text.data.lastIndexOf(sign) + 1);
      return range.getBoundingClientRect().left;
    });
  }`);

describeInBrowser('the privacy page in a browser', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot', privacy_contact: 'privacy@example.org' });
    who = subject();
    for (const [key, de, en] of [
      ['birthday', 'Geburtstag', 'Birthday'],
      ['notes', 'Notizen', 'Notes'],
    ])
      await bot.post('/data/register', {
        ...{ key, label_de: de, label_en: en, retention_days: 365 },
        ...{ description_de: PURPOSES.de, description_en: PURPOSES.en },
        fields: [{ key: 'day', type: 'string', label_de: 'Tag', label_en: 'Day' }],
      });
    const asked = { ...who, categories: ['birthday', 'notes'], language: 'en' };
    const { id } = (await bot.post<{ id: string }>('/consents/request', asked)).data;
    await bot.post('/consents/accept', { consent_id: id });
    await bot.hasData(who, 'birthday', { day: '1 May' });
  });

  async function opened(view: View = DESKTOP, given: object = {}): Promise<Page> {
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, ...given })).data;
    const page = await visitor.opens(service.url, view);
    await page.goto(url);
    return page;
  }

  it.each(VIEWS)('is accessible in every state: $language, $scheme, $width pixels', async (view) => {
    const page = await opened(view);
    expect(await visitor.accessibility()).toStrictEqual([]);
    await pictured(page, 'privacy-page-stored', view, view.width >= 500);
    expect(await page.textContent('body')).toContain(PURPOSES[view.language]);
    await page.click('a[href*="/erase?"]');
    await page.waitForSelector('button.red');
    expect(await visitor.accessibility()).toStrictEqual([]);
    await page.goBack();
    await page.click('a.red');
    await page.waitForSelector('button.red');
    expect(await visitor.accessibility()).toStrictEqual([]);
    await pictured(page, 'privacy-page-confirmation', view, view.width >= 500);
    await page.click('button.red');
    await page.waitForSelector('textarea');
    expect(await visitor.accessibility()).toStrictEqual([]);
    await pictured(page, 'privacy-page-erased', view, view.width >= 500);
    // On paper nothing scrolls.
    await page.emulateMedia({ media: 'print' });
    const cut = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('textarea'))`;
    expect(await page.evaluate(cut)).toBe(0);
    await page.emulateMedia({ media: null });
    const other = view.language === 'de' ? 'en' : 'de';
    const titles = { de: 'Deine Daten sind gelöscht', en: 'Your data is erased' };
    expect(await page.innerText('h1')).toBe(titles[view.language]);
    await page.check(`#in-${other}`);
    expect(await page.innerText('h1')).toBe(titles[other]);
    expect(await visitor.accessibility()).toStrictEqual([]);
    await page.goBack();
    await page.goBack();
    await page.reload();
    expect(await page.textContent('body')).not.toContain('1 May');
    expect(await visitor.accessibility()).toStrictEqual([]);
  });

  it('works with the keyboard and without scripts, from consent to the erasure', async () => {
    const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
    const context = await visitor.browser!.newContext({ javaScriptEnabled: false, locale: 'en' });
    context.setDefaultTimeout(WAIT_MAX_MS);
    try {
      const page = await context.newPage();
      await page.goto(url);
      await page.getByRole('link', { name: 'Erase Birthday …' }).press('Enter');
      await page.getByRole('button', { name: 'Yes, erase it' }).press('Enter');
      await page.getByText('Erased: Birthday.').waitFor();
      await page.getByRole('button', { name: 'Withdraw: Notes' }).press('Enter');
      await page.waitForURL(/lang=en&note=revoked$/);
      expect((await bot.status(who)).data).toMatchObject({ status: 'accepted' });
      await page.getByRole('button', { name: 'Withdraw my whole consent' }).press('Enter');
      await page.getByText('You have withdrawn your consent.').first().waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download to read' }).press('Enter');
      expect((await download).suggestedFilename()).toBe('lethe-export.html');
      await page.getByRole('link', { name: 'Erase …' }).press('Enter');
      await page.getByRole('button', { name: 'Yes, erase everything' }).dblclick();
      await page.getByRole('heading', { name: 'Your data is erased' }).waitFor();
      expect(await page.locator('textarea').inputValue()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}$/);
      await page.goto(url);
      await page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
    } finally {
      await context.close();
    }
  });

  it('has room for values beside long names, and for each line of a text in its own direction', async () => {
    const label = 'Wie oft du in den Kanälen dieses Servers in den letzten dreißig Tagen erwähnt wurdest';
    await bot.hasCategory('stats', [
      { key: 'count', type: 'string', label_de: label, label_en: label },
      { key: 'deep', type: 'json', label_de: label, label_en: label },
    ]);
    const { id } = (
      await bot.post<{ id: string }>('/consents/request', { ...who, categories: ['stats'], language: 'en' })
    ).data;
    await bot.post('/consents/accept', { consent_id: id });
    const text = 'مرحبا\nLine two.';
    await bot.hasData(who, 'stats', { count: text, deep: { [label]: 'inside' } });
    for (const view of [DESKTOP, PHONE]) {
      const page = await opened(view);
      const values = await page.locator('.value dd').all();
      const widths = await Promise.all(values.map(async (each) => (await each.boundingBox())?.width ?? 0));
      expect(widths).toHaveLength(4);
      expect(Math.min(...widths)).toBeGreaterThan(120);
      expect(await page.locator('.value bdi', { hasText: 'Line two.' }).innerText()).toBe(text);
      const [line = NaN, end = NaN] = await ends(page, '.value bdi');
      expect(end).toBeGreaterThan(line);
    }
    await bot.put(`/bots/${bot.id}/notice-settings`, {
      public: true,
      controller_name: 'Robin',
      source_en: text,
    });
    const page = await opened();
    await page.goto(`${service.url}/notice/${bot.id}?language=en`);
    const [line = NaN, end = NaN] = await ends(page, 'p bdi');
    expect(end).toBeGreaterThan(line);
  });

  it('is no wider than its window where text is twice as large', async () => {
    const free = { legal_basis: 'legitimate_interests', requires_consent: false };
    await bot.hasCategory('warns', undefined, { ...free, reason_de: 'Grund', reason_en: 'Reason' });
    await bot.hasData(who, 'warns', { value: 'two' });
    for (const language of ['de', 'en'] as const) {
      const page = await opened({ ...PHONE, language });
      const session = await page.context().newCDPSession(page);
      await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
      await page.reload();
      expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe('32px');
      await pictured(page, 'privacy-page-large', { ...PHONE, language });
      expect(await visitor.accessibility()).toStrictEqual([]);
      await page.click('a.red');
      await page.waitForSelector('button.red');
      expect(await visitor.accessibility()).toStrictEqual([]);
    }
  });

  it('runs no script of a value, a label or a name', async () => {
    await bot.put(`/bots/${bot.id}`, { name: HOSTILE });
    await bot.put('/data/categories/notes', { label_en: HOSTILE, description_en: HOSTILE });
    await bot.hasData(who, 'birthday', { day: HOSTILE });
    const page = await opened();
    expect(await page.textContent('body')).toContain('onerror=alert(1)');
    expect(await page.locator('img, script').count()).toBe(0);
  });

  it('is shown in no frame', async () => {
    const page = await opened();
    const url = page.url();
    // The policy of the privacy page itself would forbid the frame already.
    await page.goto(`${service.url}/health/live`);
    await page.setContent(`<iframe src="${url}"></iframe>`);
    // The browser reports the policy that has kept the page out of the frame.
    await until(() => visitor.watched?.faults.length !== 0);
    expect(visitor.watched?.faults.splice(0)).toEqual([expect.stringContaining('frame-ancestors')]);
    const framed = await page.frames()[1]?.content();
    expect(framed).not.toContain('Birthday bot');
  });
});
