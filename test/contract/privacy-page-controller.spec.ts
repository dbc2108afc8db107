import { type Bot, field } from '../support/bot';
import { act, get } from '../support/privacy-page';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';

const service = useService();
let bot: Bot;
beforeEach(async () => {
  bot = await service.registerBot({ name: 'Greeter', privacy_contact: 'greeter@example.org' });
});

async function linkOf(language: 'de' | 'en', who = subject()): Promise<string> {
  const { data } = await bot.post<{ url: string }>('/privacy-links', { ...who, language });
  return service.url + new URL(data.url).pathname;
}

const pageOf = async (language: 'de' | 'en' = 'en'): Promise<string> =>
  (await get(await linkOf(language))).text;

/** The words of the one section that says who is responsible. */
function section(page: string): string {
  const found = [
    ...page.matchAll(/<section>\s*<h2>(?:Who is responsible|Wer verantwortlich ist)<.*?<\/section>/gs),
  ];
  expect(found).toHaveLength(1);
  return (found[0]?.[0] ?? '').replace(/<(?!img)[^>]*>/g, '').replace(/\s+/g, ' ');
}

const SETTINGS = {
  controller_name: 'Robin "><img src=x onerror=alert(1)>',
  controller_email: 'robin@example.org',
  officer_name: 'Kim',
  officer_email: 'kim@example.org',
  recipients: [
    { name: 'Hosting', purpose_en: 'Servers', country: 'US', safeguards_en: 'Standard clauses' },
    { name: 'Mail' },
  ],
  interests_en: 'Order',
  source_en: 'The platform',
  automated_decisions: 'none',
  authority_name: 'Authority',
  authority_url: 'https://authority.example.org',
  notice_url: 'https://bot.example.org/privacy',
};
const SAID = [
  'Greeter',
  'Controller Robin &quot;&gt;&lt;img src=x onerror=alert(1)&gt;',
  'Contact for privacy robin@example.org, greeter@example.org',
  'Data protection officer Kim, kim@example.org',
  'Hosting (United States): Servers. Safeguards: Standard clauses',
  'Legitimate interests Order',
  'Where the data comes from The platform',
  'Automated decisions There are none',
  'Supervisory authority Authority',
  'https://bot.example.org/privacy',
];

describe('the section of a privacy page that says who is responsible', () => {
  it('names controller, contact, officer, recipients, decisions, authority and the policy of the bot', async () => {
    await bot.put(`/bots/${bot.id}/notice-settings`, SETTINGS);
    const page = await pageOf();
    for (const shown of SAID) expect(section(page)).toContain(shown);
    expect(page).toContain('href="https://bot.example.org/privacy"');
    expect(page).toContain('<bdi class="words">Kim</bdi>, <a href="mailto:kim@example.org"');
    expect(page).not.toContain('<img');
  });

  it('is also in the copy to read', async () => {
    await bot.put(`/bots/${bot.id}/notice-settings`, SETTINGS);
    const who = subject();
    await bot.hasCategory('profile', [field('value')]);
    await bot.hasConsent(who);
    const copy = await act(await linkOf('en', who), 'export', 0);
    expect(copy.headers.get('content-disposition')).toMatch(/\.html"$/);
    for (const shown of SAID) expect(section(copy.text)).toContain(shown);
  });

  it('names the bot and its contact alone while nothing else is set', async () => {
    expect(section(await pageOf('de'))).toMatch(
      /^ Wer verantwortlich ist Bot Greeter ?Kontakt zum Datenschutz greeter@example.org $/,
    );
  });

  it('says nothing of automated decisions where the bot has a text and does not say that they exist', async () => {
    const path = `/bots/${bot.id}/notice-settings`;
    await bot.put(path, { automated_decisions_en: 'A ban after three warnings' });
    expect(section(await pageOf())).not.toContain('Automated decisions');
    await bot.put(path, { automated_decisions: 'exist' });
    expect(section(await pageOf())).toContain('Automated decisions A ban after three warnings');
  });

  it('says where to ask when there is no contact', async () => {
    bot = await service.registerBot({ name: 'Greeter' });
    expect(section(await pageOf())).toContain('The bot names no contact. Ask where you use it.');
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
      expect(page).toContain('The copy to read has everything');
      expect(page).toContain('Controller');
    },
  );
});
