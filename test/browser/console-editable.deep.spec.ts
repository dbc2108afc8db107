import { ConsoleFiles } from '@app/pages';
import type { Browser } from 'playwright-core';
import { field } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, pictured, startBrowser, WatchedPage } from '../support/browser';
import { builtConsole } from '../support/built-console';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const service = useServiceInProcess();
let browser: Browser;
let watched: WatchedPage;

describeInBrowser('the editor of a category', () => {
  beforeAll(async () => {
    Object.assign(service.app.get(ConsoleFiles), { folder: await builtConsole() });
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const faults = watched.faults.splice(0);
    await watched.page.context().close();
    expect(faults).toStrictEqual([]);
  });

  it.each([DESKTOP, { ...PHONE, width: 360 }])(
    'lets a team say which fields users may correct: $language, $width pixels',
    async (view) => {
      const bot = await service.registerBot({ name: 'Birthday bot' });
      await bot.hasCategory('profile', [field('nickname'), field('extra', 'json')]);
      watched = await WatchedPage.open(browser, service.url, view);
      const { page } = watched;
      await page.goto(`${service.url}/console/categories/profile`);
      await page.fill('input[type=password]', bot.key);
      await page.press('input[type=password]', 'Enter');
      const box = page.locator('.field-row input[type=checkbox]');
      await box.first().waitFor();
      expect(await box.count()).toBe(1);
      await box.check();
      expect(await watched.accessibility()).toStrictEqual([]);
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
