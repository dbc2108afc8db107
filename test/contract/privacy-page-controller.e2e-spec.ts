import { type Bot } from '../support/bot';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter' });
});

async function pageOf(): Promise<string> {
  const { data } = await bot.post<{ url: string }>('/privacy-links', { ...subject(), language: 'en' });
  const { pathname } = new URL(data.url);
  return (await fetch(`${service.url}${pathname}?lang=en`)).text();
}

describe('the privacy page of a bot with notice settings', () => {
  it('names controller, officer, recipients, decisions, authority and the policy of the bot', async () => {
    await bot.put(`/bots/${bot.id}/notice-settings`, {
      controller_name: 'Robin "><img src=x onerror=alert(1)>',
      officer_name: 'Kim',
      recipients: [{ name: 'Hosting', purpose_de: 'Server', country: 'US' }],
      automated_decisions: 'none',
      authority_name: 'Authority',
      authority_url: 'https://authority.example.org',
      notice_url: 'https://bot.example.org/privacy',
    });
    const page = await pageOf();
    for (const shown of [
      'Robin &quot;&gt;&lt;img',
      'Kim',
      'Hosting',
      'United States',
      'There are none',
      'Authority',
    ])
      expect(page).toContain(shown);
    expect(page).toContain('href="https://bot.example.org/privacy"');
    expect(page).not.toContain('<img');
  });

  it('has no such section while nothing is set', async () => {
    expect(await pageOf()).not.toContain('Who is responsible for your data');
  });

  it.each(['"', '語'])(
    'of the longest texts, all of %s, has at most 50 KB and says that there is more',
    async (sign) => {
      const long = (length: number) => sign.repeat(length);
      const url = `https://authority.example.org/?${'&'.repeat(2_000)}`;
      const settings = [
        { controller_name: long(200), controller_address: long(500), officer_name: long(200) },
        { interests_en: long(2_000), source_en: long(2_000), authority_url: url, notice_url: url },
        { automated_decisions: 'exist', automated_decisions_en: long(2_000) },
        {
          recipients: Array.from({ length: 20 }, () => ({
            ...{ name: long(200), purpose_en: long(500), safeguards_en: long(500), country: 'US' },
          })),
        },
      ];
      for (const given of settings)
        expect((await bot.put(`/bots/${bot.id}/notice-settings`, given)).status).toBe(200);
      const page = await pageOf();
      expect(Buffer.byteLength(page)).toBeLessThanOrEqual(50_000);
      expect(page).toContain('The copies of your data have everything');
      expect(page).toContain('Controller');
    },
  );
});
