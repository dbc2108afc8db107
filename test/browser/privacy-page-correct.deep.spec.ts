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

const VIEWS: readonly View[] = [
  DESKTOP,
  { ...PHONE, width: 360 },
  { ...DESKTOP, language: 'de' },
  { ...PHONE, width: 360, scheme: 'light', language: 'de' },
];
const WORDS = {
  en: {
    level: 'Correct: Level',
    save: 'Save the correction',
    fault: 'with a point',
    done: 'Corrected: Profile.',
  },
  de: {
    level: 'Berichtigen: Stufe',
    save: 'Berichtigung speichern',
    fault: 'mit einem Punkt',
    done: 'Berichtigt: Profil.',
  },
} as const;

const service = useServiceInProcess();
// Chromium reports the status 400 of the refusal, which the page shows.
const visitor = useBrowser((fault) => !fault.includes('status of 400'));
let bot: Bot;
let who: SubjectIds;

describeInBrowser('the correction of a value in a browser', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot', privacy_contact: 'privacy@example.org' });
    who = subject();
    const fields = [
      ['nickname', 'string', 'Spitzname', 'Nickname'],
      ['level', 'number', 'Stufe', 'Level'],
      ['public', 'boolean', 'Öffentlich', 'Public'],
      ['birthday', 'date', 'Geburtstag', 'Birthday'],
      ['about', 'string', 'Über dich', 'About you'],
    ].map(([key, type, label_de, label_en]) => ({ key, type, label_de, label_en, editable: true }));
    const labels = { label_de: 'Profil', label_en: 'Profile', retention_days: 365 };
    await bot.post('/data/register', {
      ...{ key: 'profile', ...labels },
      fields: [...fields, { key: 'score', type: 'number', label_de: 'Punkte', label_en: 'Score' }],
    });
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', {
      ...{ nickname: 'Robin', level: 3, public: true, birthday: '2000-02-29', score: 7 },
      about: 'I like tea and cake.\nAnd long walks in the rain, when it is warm.',
    });
  });

  const stored = async (): Promise<unknown> => {
    const path = `/data/values/${who.user_id}?guild_id=${who.guild_id}`;
    return (await bot.get<{ values: { profile: unknown } }>(path)).data.values.profile;
  };

  it.each(VIEWS)('is accessible, refused and done: $language, $scheme, $width pixels', async (view) => {
    const words = WORDS[view.language];
    const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
    const page = await visitor.opens(service.url, view);
    await page.goto(url);
    await pictured(page, 'privacy-page-correct-folded', view);
    for (const summary of await page.locator('details.edit > summary').all()) await summary.click();
    expect(await visitor.accessibility()).toStrictEqual([]);
    await pictured(page, 'privacy-page-correct-open', view);
    const form = page.locator('details.edit').filter({ hasText: words.level });
    await form.locator('[name=value]').fill('12,5');
    await form.getByRole('button', { name: words.save }).click();
    await page.getByRole('alert').filter({ hasText: words.fault }).waitFor();
    expect(await visitor.accessibility()).toStrictEqual([]);
    await pictured(page, 'privacy-page-correct-refused', view);
    expect(await page.inputValue('[name=value]')).toBe('12,5');
    expect(await stored()).toMatchObject({ level: 3 });
    await page.fill('[name=value]', '12.5');
    await page.getByRole('button', { name: words.save }).click();
    await page.getByRole('status').filter({ hasText: words.done }).waitFor();
    expect(await visitor.accessibility()).toStrictEqual([]);
    await pictured(page, 'privacy-page-correct-done', view);
    expect(await page.locator('.value').textContent()).toContain('12.5');
    expect(await stored()).toMatchObject({ level: 12.5, nickname: 'Robin' });
  });

  it('works with the keyboard and without scripts, and holds a text of several lines as it is', async () => {
    const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
    const context = await visitor.browser!.newContext({ javaScriptEnabled: false, locale: 'en' });
    context.setDefaultTimeout(WAIT_MAX_MS);
    try {
      const page = await context.newPage();
      await page.goto(url);
      await page.locator('summary', { hasText: 'Correct: About you' }).press('Enter');
      await page.locator('textarea').press('End');
      await page.getByRole('button', { name: 'Save the correction' }).press('Enter');
      await page.getByText('This value was stored already').waitFor();
      await page.locator('summary', { hasText: 'Correct: Public' }).press('Enter');
      await page.locator('select').selectOption('false');
      await page.getByRole('button', { name: 'Save the correction' }).press('Enter');
      await page.getByText('Corrected: Profile.').waitFor();
      expect(await stored()).toMatchObject({
        public: false,
        about: expect.stringContaining('tea') as string,
      });
    } finally {
      await context.close();
    }
  });
});
