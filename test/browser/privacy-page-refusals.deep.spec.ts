import { type Bot, field } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, useBrowser, type View } from '../support/browser';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';

const VIEWS: readonly View[] = [
  DESKTOP,
  { ...PHONE, width: 360, language: 'en' },
  { ...DESKTOP, language: 'de', scheme: 'dark' },
  { ...PHONE, width: 360, scheme: 'light', language: 'de' },
];
const WORDS = {
  en: {
    open: 'Object or restrict …',
    restrict: 'Restrict',
    restricted: 'Your restriction is recorded.',
    since: 'Restricted since',
    object: 'Object and erase',
    objected: 'Your objection is recorded.',
    end: 'End every restriction',
    ended: 'The restriction has ended.',
  },
  de: {
    open: 'Widersprechen oder einschränken …',
    restrict: 'Einschränken',
    restricted: 'Deine Einschränkung ist vermerkt.',
    since: 'Eingeschränkt seit',
    object: 'Widersprechen und löschen',
    objected: 'Dein Widerspruch ist vermerkt.',
    end: 'Alle Einschränkungen aufheben',
    ended: 'Die Einschränkung ist aufgehoben.',
  },
} as const;

const service = useServiceInProcess();
const visitor = useBrowser();
let bot: Bot;
let who: SubjectIds;

describeInBrowser('an objection and a restriction in a browser', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot', privacy_contact: 'privacy@example.org' });
    who = subject();
    const fields = [field('value')];
    const stats = { label_de: 'Statistik', label_en: 'Statistics', legal_basis: 'legitimate_interests' };
    await bot.post('/data/register', { key: 'stats', ...stats, fields });
    await bot.post('/data/register', { key: 'profile', label_de: 'Profil', label_en: 'Profile', fields });
    await bot.hasConsent(who);
    for (const key of ['stats', 'profile']) await bot.hasData(who, key, { value: 'Robin' });
  });

  const expectAccessible = async (): Promise<void> => expect(await visitor.accessibility()).toStrictEqual([]);
  const refused = async (category: string): Promise<unknown> =>
    (await bot.post('/data/submit', { ...who, category, data: { value: 'x' } })).error.details;

  it.each(VIEWS)('are accessible and done: $language, $scheme, $width pixels', async (view) => {
    const words = WORDS[view.language];
    const { url } = (await bot.post<{ url: string }>('/privacy-links', who)).data;
    const page = await visitor.opens(service.url, view);
    await page.goto(url);
    await page.getByRole('link', { name: words.open }).click();
    await page.getByRole('button', { name: words.object }).waitFor();
    await expectAccessible();
    await pictured(page, 'privacy-page-refusals-forms', view);
    await page.locator('form[action*="/restrict?"] select').selectOption('*');
    await page.getByRole('button', { name: words.restrict, exact: true }).click();
    await page.getByRole('status').filter({ hasText: words.restricted }).waitFor();
    expect(await page.getByText(words.since).count()).toBe(1);
    expect(await refused('profile')).toStrictEqual({ reason: 'restriction' });
    await page.getByRole('link', { name: words.open }).click();
    await page.locator('form[action*="/object?"] select').selectOption('stats');
    await page.getByRole('button', { name: words.object }).click();
    await page.getByRole('status').filter({ hasText: words.objected }).waitFor();
    await expectAccessible();
    await pictured(page, 'privacy-page-refusals-in-force', view);
    expect(await refused('stats')).toStrictEqual({ reason: 'objection' });
    await page.getByRole('link', { name: words.open }).click();
    await page.getByRole('button', { name: words.end }).waitFor();
    await expectAccessible();
    await pictured(page, 'privacy-page-refusals-ending', view);
    await page.getByRole('button', { name: words.end }).click();
    await page.getByRole('status').filter({ hasText: words.ended }).waitFor();
    expect(await page.getByText(words.since).count()).toBe(0);
  });
});
