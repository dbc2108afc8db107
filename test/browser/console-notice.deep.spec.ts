import type { Page } from 'playwright-core';
import type { Bot } from '../support/bot';
import { describeInBrowser, DESKTOP, PHONE, type View } from '../support/browser';
import { useConsole } from '../support/console';

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;

const team = useConsole();
const { service } = team;
let bot: Bot;

describeInBrowser('the page of the privacy notice', () => {
  beforeEach(async () => {
    bot = await service.registerBot({ name: 'Birthday bot' });
  });

  /** The page, reached from the settings. */
  async function opened(view: View = DESKTOP, key = bot.key): Promise<Page> {
    const page = await team.signsIn(key, { address: '/settings', view });
    await page.click('main a[href="/console/notice"]');
    await page.waitForSelector('main a[href="/console/reports"]');
    await page.waitForSelector('.loading', { state: 'detached' });
    return page;
  }

  const save = (page: Page) => page.locator('main form button[type=submit]').click();
  const isAccessible = async (): Promise<void> => expect(await team.accessibility()).toStrictEqual([]);
  const stored = async () => (await bot.get(`/bots/${bot.id}/notice-settings`)).data;
  const publicStatus = async () => (await fetch(`${service.url}/notice/${bot.id}`)).status;

  it('asks before it replaces recipients that another page has saved meanwhile', async () => {
    const put = (...names: string[]) =>
      bot.put(`/bots/${bot.id}/notice-settings`, { recipients: names.map((name) => ({ name })) });
    const names = async () =>
      ((await stored())['recipients'] as { name: string }[] | null)?.map(({ name }) => name);
    await put('Host');
    const page = await opened();
    await page.getByRole('button', { name: 'Add a recipient' }).click();
    await page.getByLabel('Name', { exact: true }).nth(1).fill('Mailer');
    await put('Host', 'Backup');
    await save(page);
    await page.getByRole('heading', { name: 'Replace the recipients?' }).waitFor();
    await isAccessible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await names()).toEqual(['Host', 'Backup']);
    await save(page);
    await page.locator('dialog button.danger').click();
    await page.waitForSelector('text=Saved.');
    expect(await names()).toEqual(['Host', 'Mailer']);
    await page.getByLabel('Name', { exact: true }).nth(1).fill('Post');
    await save(page);
    await page.waitForSelector('text=Saved.');
    expect(await names()).toEqual(['Host', 'Post']);
  });

  it('takes every field, changes only what differs, and clears what was emptied', async () => {
    const page = await opened();
    const texts = {
      Controller: HOSTILE,
      'Postal address': 'Example Street 1, 10115 Berlin',
      'E-mail of the controller': 'robin@example.org',
      'Data protection officer': 'Kim Example',
      'E-mail of the officer': 'kim@example.org',
      'Legitimate interests, German': 'Schutz vor Spam',
      'Legitimate interests, English': 'Protection against spam',
      'Source of the data, German': 'Discord',
      'Source of the data, English': 'Discord',
      'Supervisory authority': 'An authority',
      'Address of the authority': 'https://authority.example.org',
      "Address of the bot's own privacy policy": 'https://bot.example.org/privacy',
    };
    for (const [label, text] of Object.entries(texts))
      await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Add a recipient' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Example Hosting');
    await page.getByLabel('Country, two letters').fill('us');
    await page.waitForSelector('.hint:has-text("United States")');
    await page.getByLabel('What it does with the data, English').fill('Runs the server');
    await page.getByLabel('Safeguards of a transfer, English').fill('Standard clauses');
    await page.getByLabel('Automated decisions').selectOption('exist');
    await page.getByLabel('What is decided, English').fill('A filter decides.');
    await save(page);
    await page.waitForSelector('text=Saved.');
    expect(await stored()).toMatchObject({
      ...{ controller_name: HOSTILE, controller_address: texts['Postal address'] },
      ...{
        controller_email: 'robin@example.org',
        officer_name: 'Kim Example',
        officer_email: 'kim@example.org',
      },
      ...{ interests_de: 'Schutz vor Spam', interests_en: 'Protection against spam' },
      ...{ source_de: 'Discord', source_en: 'Discord', authority_name: 'An authority' },
      ...{ authority_url: 'https://authority.example.org', notice_url: 'https://bot.example.org/privacy' },
      recipients: [
        {
          name: 'Example Hosting',
          country: 'US',
          purpose_en: 'Runs the server',
          safeguards_en: 'Standard clauses',
        },
      ],
      ...{ automated_decisions: 'exist', automated_decisions_en: 'A filter decides.' },
    });
    await page.getByLabel('Data protection officer', { exact: true }).fill('');
    await page.getByLabel('Automated decisions').selectOption('none');
    await page.getByRole('button', { name: 'Remove recipient 1' }).click();
    await save(page);
    await page.waitForSelector('text=Saved.');
    const { changes, ...rest } = await stored();
    expect(rest).toMatchObject({ automated_decisions: 'none', officer_email: 'kim@example.org' });
    for (const name of ['officer_name', 'recipients', 'automated_decisions_en'])
      expect(rest).not.toHaveProperty(name);
    expect(changes).toMatchObject([{ fields: expect.not.arrayContaining(['source_de']) as string[] }, {}]);
    await isAccessible();
  });

  it('publishes no explanation of automated decisions that it hides', async () => {
    await bot.put(`/bots/${bot.id}/notice-settings`, { automated_decisions: 'none' });
    const page = await opened();
    const choice = page.getByLabel('Automated decisions');
    await choice.selectOption('exist');
    await page.getByLabel('What is decided, English').fill('A filter decides.');
    await choice.selectOption('none');
    await page.getByLabel('Postal address').fill('Example Street 1, 10115 Berlin');
    await save(page);
    await page.waitForSelector('text=Saved.');
    const { automated_decisions, automated_decisions_en, controller_address } = await stored();
    expect([automated_decisions, automated_decisions_en, controller_address]).toEqual([
      'none',
      undefined,
      'Example Street 1, 10115 Berlin',
    ]);
  });

  it.each([
    [
      'in English, on a wide screen',
      DESKTOP,
      ['e-mail address', 'https://', 'two letters', '1 to', 'in English'],
    ],
    [
      'in German, 320 px wide',
      PHONE,
      ['E-Mail-Adresse', 'https://', 'zwei Buchstaben', '1 bis', 'auf Englisch'],
    ],
  ] as const)('says what is wrong beside the field, and goes to the first one, %s', async (_, view, said) => {
    const page = await opened(view);
    await page.locator('input[inputmode=email]').first().fill('nobody');
    await page.locator('input[inputmode=url]').first().fill('http://authority.example.org');
    await page.getByRole('button', { name: /^(Add a recipient|Empfänger hinzufügen)$/ }).click();
    await page.locator('.recipient input').nth(1).fill('1');
    await save(page);
    for (const words of said.slice(0, 4)) await page.waitForSelector(`.fault:has-text("${words}")`);
    await page.waitForSelector('input[inputmode=email]:focus');
    await isAccessible();
    expect(await stored()).toMatchObject({ updated_at: null });
    await page.locator('.save-bar button[type=button]').click();
    await page.waitForSelector('.fault:not(:empty)', { state: 'detached' });
    await page.locator('main form select').selectOption('exist');
    await save(page);
    await page.waitForSelector(`.fault:has-text("${said[4]}")`);
    await isAccessible();
  });

  it('shows the notice to everybody when it has a controller, and its address to copy', async () => {
    const page = await opened();
    await page.getByLabel('Show the notice to everybody').check();
    await save(page);
    await page.waitForSelector('.fault:has-text("needs the name of the controller")');
    expect(await publicStatus()).toBe(404);
    await page.getByLabel('Controller', { exact: true }).fill(HOSTILE);
    await save(page);
    const address = `${service.url}/notice/${bot.id}`;
    await page.waitForSelector(`code:text-is("${address}")`);
    expect(await page.getAttribute('main a[target=_blank]', 'href')).toBe(address);
    expect(await page.getByRole('button', { name: `Copy ${address}` }).count()).toBe(1);
    expect(await publicStatus()).toBe(200);
    await isAccessible();
    await page.getByLabel('Show the notice to everybody').uncheck();
    await save(page);
    await page.waitForSelector('text=It is off.');
    expect(await publicStatus()).toBe(404);
  });

  it.each([
    ['in English, on a wide screen', DESKTOP, 'Dossier for the platform', 'data-protection-dossier.html'],
    ['in German, 320 px wide', PHONE, 'Dossier für die Plattform', 'datenschutz-dossier.html'],
  ] as const)(
    'leads from the record to the dossier for the platform, and gives it as a file, %s',
    async (_, view, name, file) => {
      await bot.put(`/bots/${bot.id}/notice-settings`, { controller_name: HOSTILE });
      await bot.hasCategory('birthday');
      const page = await opened(view);
      await page.click('main a[href="/console/reports"]');
      // In the words of the file.
      await page
        .getByText(view === PHONE ? 'keine Frist angegeben' : 'no period declared')
        .first()
        .waitFor();
      await page.getByRole('link', { name }).click();
      await page.waitForSelector(`.record dd:has-text('onerror=alert(1)')`);
      await page.waitForSelector('.record dd:has-text("ChaCha20-Poly1305")');
      expect(await page.locator('main nav a[aria-current=page]').innerText()).toBe(name);
      await isAccessible();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'HTML' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(file);
      expect(await (await download.createReadStream()).toArray()).not.toStrictEqual([]);
    },
  );

  it('shows a key with the scope read what is said, and no form', async () => {
    await bot.put(`/bots/${bot.id}/notice-settings`, {
      ...{ controller_name: HOSTILE, public: true, automated_decisions: 'none' },
      recipients: [{ name: HOSTILE, country: 'US', purpose_de: 'Betrieb' }],
    });
    const { data } = await bot.post(`/bots/${bot.id}/keys`, { scopes: ['read'] });
    const page = await opened(PHONE, data.api_key as string);
    await page.waitForSelector('dd:has-text("Vereinigte Staaten")');
    expect(await page.locator('main form, main input, main select').count()).toBe(0);
    await isAccessible();
  });
});
