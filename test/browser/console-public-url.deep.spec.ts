import { describeInBrowser } from '../support/browser';
import { useConsole } from '../support/console';

const PUBLIC_URL = 'http://gdpr.example.org';
const team = useConsole({ PUBLIC_URL });
const { service } = team;

describeInBrowser(
  'the page of the privacy notice, where the team reaches the console by another address than users',
  () => {
    it('shows the address at which users read the notice', async () => {
      const bot = await service.registerBot({ name: 'Birthday bot' });
      const given = { controller_name: 'Example', public: true, automated_decisions: 'none' };
      expect((await bot.put(`/bots/${bot.id}/notice-settings`, given)).status).toBe(200);
      const page = await team.signsIn(bot.key, { address: '/notice' });
      const address = `${PUBLIC_URL}/notice/${bot.id}`;
      await page.waitForSelector(`code:text-is("${address}")`);
      expect(await page.getAttribute('main a[target=_blank]', 'href')).toBe(address);
    });
  },
);
