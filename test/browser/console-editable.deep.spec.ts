import { field } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured } from '../support/browser';
import { useConsole } from '../support/console';
import { until } from '../support/until';

const team = useConsole();

describeInBrowser('the editor of a category', () => {
  it.each([DESKTOP, { ...PHONE, width: 360 }])(
    'lets a team say which fields users may correct: $language, $width pixels',
    async (view) => {
      const bot = await team.service.registerBot({ name: 'Birthday bot' });
      await bot.hasCategory('profile', [field('nickname'), field('extra', 'json')]);
      const page = await team.signsIn(bot.key, { address: '/categories/profile', view });
      const box = page.locator('.field-row input[type=checkbox]');
      await box.first().waitFor();
      expect(await box.count()).toBe(1);
      await box.check();
      expect(await team.accessibility()).toStrictEqual([]);
      await pictured(page, `console-${view.language}-${view.width}`);
      await page.locator('main form button[type=submit]').click();
      const declared = async (): Promise<unknown[]> =>
        (await bot.get<{ fields: { editable?: boolean }[] }>('/data/categories/profile')).data.fields.map(
          (one) => one.editable,
        );
      await until(async () => (await declared())[0] === true);
      expect(await declared()).toEqual([true, undefined]);
    },
  );
});
