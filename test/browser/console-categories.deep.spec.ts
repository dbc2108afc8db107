import { describeInBrowser, DESKTOP, PHONE, pictured, type View } from '../support/browser';
import { useConsole } from '../support/console';

const WORDS = {
  en: { still: 'still needs a consent', note: 'Every value still needs a consent', free: 'needs no consent' },
  de: {
    still: 'braucht trotzdem eine Einwilligung',
    note: 'Jeder Wert braucht trotzdem eine Einwilligung',
    free: 'braucht keine Einwilligung',
  },
} as const;

const team = useConsole({ RATE_LIMIT_CONSOLE: '10000' });
const { service } = team;

describeInBrowser('a category with another legal basis than consent', () => {
  it.each([
    DESKTOP,
    { ...DESKTOP, language: 'de', scheme: 'dark' },
    { ...PHONE, width: 360, language: 'en' },
    { ...PHONE, width: 360, scheme: 'light' },
  ] as const satisfies readonly View[])(
    'is named where it needs a consent nevertheless, with what mends it: $language, $scheme, $width pixels',
    async (view) => {
      const words = WORDS[view.language];
      const bot = await service.registerBot({ name: 'Birthday bot' });
      const reasons = { reason_de: 'Wir müssen es aufbewahren.', reason_en: 'We have to keep it.' };
      await bot.hasCategory('levels');
      await bot.hasCategory('bans', undefined, { legal_basis: 'legitimate_interests' });
      await bot.hasCategory('bills', undefined, {
        ...{ legal_basis: 'legal_obligation', requires_consent: false, ...reasons },
      });
      const page = await team.signsIn(bot.key, { address: '/categories', view });
      const row = (key: string) => page.locator('tbody tr', { has: page.getByText(key, { exact: true }) });
      await row('bans').getByText(words.still).waitFor();
      await row('bills').getByText(words.free).waitFor();
      expect(await page.getByText(words.still).count()).toBe(1);
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-categories-list', view);
      await page.goto(`${service.url}/console/categories/bans`);
      await page.getByText(words.note).waitFor();
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, 'console-categories-one', view);
      await page.locator('label.check input').first().check();
      await page.getByText(words.note).waitFor({ state: 'detached' });
    },
  );

  it('is so for a key that may only read it', async () => {
    const bot = await service.registerBot();
    await bot.hasCategory('bans', undefined, { legal_basis: 'legitimate_interests' });
    const { api_key: key } = (await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] })).data;
    const page = await team.signsIn(key as string, { address: '/categories/bans' });
    await page.getByText(WORDS.en.note).waitFor();
    expect(await team.accessibility()).toStrictEqual([]);
  });
});
