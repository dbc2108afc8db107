import { describeInBrowser, PLAIN_HOST } from '../support/browser';
import { useConsole } from '../support/console';
import { subject } from '../support/snowflakes';

const team = useConsole({ ALLOWED_HOSTS: PLAIN_HOST });
const { service } = team;

describeInBrowser('the console over plain HTTP from another machine', () => {
  it('does what it is asked to do', async () => {
    const bot = await service.registerBot({ name: 'Birthday bot' });
    const origin = service.url.replace('127.0.0.1', PLAIN_HOST);
    const page = await team.opens(origin);
    await page.goto(`${origin}/console/settings`);
    expect(await page.evaluate('isSecureContext')).toBe(false);
    await page.fill('input[type=password]', bot.key);
    await page.press('input[type=password]', 'Enter');
    const { guild_id } = subject();
    const add = page.locator('.add input');
    await add.nth(0).fill(guild_id);
    await add.nth(1).fill('Garden');
    await page.getByRole('button', { name: 'Register' }).click();
    await page.waitForSelector('td bdi:has-text("Garden")');
    await page.click('nav a[href="/console/keys"]');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForSelector('.notice.good code');
  });

  it('says an error of the page as itself, and not that the service does not answer', async () => {
    const bot = await service.registerBot({ name: 'Birthday bot' });
    const broken = `crypto.getRandomValues = () => { throw new TypeError('no chance') }; delete Crypto.prototype.randomUUID`;
    const page = await team.signsIn(bot.key, { address: '/keys', script: broken });
    await page.getByRole('button', { name: 'Create key' }).click();
    const alert = page.locator('form [role=alert].notice');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/^The page has failed\..*no chance$/);
  });
});
