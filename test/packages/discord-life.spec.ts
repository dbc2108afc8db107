import { createWebhookHandler, Lethe } from '@lethe/sdk';
import { verifyCertificate } from '@lethe/sdk/evidence';
import { discordPySeat, HAS_DISCORD_PY } from '../support/discord-py-seat';
import { type BotSeat, discordJsSeat, httpSeat } from '../support/discord-seats';
import { buttonsOf, componentsOf, DiscordUser } from '../support/discord-user';
import { useFakeDiscord } from '../support/fake-discord';
import { useReceiver } from '../support/receiver';
import { useService } from '../support/shared-service';
import { snowflake } from '../support/snowflakes';

// The life of a bot with @lethe/discord, on the real service: with discord.js, with signed HTTP requests, and of
// lethe_discord with discord.py.

const service = useService();
const receiver = useReceiver();
const discord = useFakeDiscord();

const field = (key: string, label_de: string, label_en: string, type = 'string') =>
  ({ key, type, label_de, label_en }) as {
    key: string;
    type: 'string' | 'date';
    label_de: string;
    label_en: string;
  };

const PATIENTLY: unknown = expect.objectContaining({ timeoutMs: 90_000 });

type Start = (options: { lethe: Lethe; onError: (error: unknown) => void }, key: string) => Promise<BotSeat>;
const SEATS: readonly (readonly [string, Start])[] = [
  ['discord.js', async (options) => discordJsSeat(discord, options)],
  ['signed HTTP', (options) => httpSeat(discord, options)],
  ...(HAS_DISCORD_PY ? [['discord.py', discordPyStart] as const] : []),
];

async function discordPyStart({ onError }: { onError: (error: unknown) => void }, key: string) {
  const seat = await discordPySeat(discord, { url: service.url, key });
  const stop = async () => {
    await seat.stop();
    seat.errors.forEach(onError);
  };
  return { ...seat, stop };
}

describe.each(SEATS)('the life of a bot with %s', (_name, start) => {
  let lethe: Lethe;
  let secret: string;
  let botId: string;
  let seat: BotSeat;
  const errors: unknown[] = [];
  /** The calls of the kit. */
  let calls: jest.SpyInstance[] = [];
  const user = (locale?: string, guild?: string | null) =>
    new DiscordUser({ discord, ...seat }, guild, locale);

  beforeEach(async () => {
    receiver.reset();
    errors.length = 0;
    discord.applicationId = snowflake();
    const bot = await service.registerBot({
      platform_bot_id: discord.applicationId,
      webhook_url: receiver.url,
      privacy_contact: 'privacy@bot.example',
    });
    ({ id: botId, webhookSecret: secret } = bot);
    lethe = new Lethe({ url: service.url, key: bot.key });
    const birthday = { description_en: 'To congratulate you.', retention_days: 365 };
    await lethe.categories.register({
      ...{ key: 'birthday', label_de: 'Geburtstag', label_en: 'Birthday', ...birthday },
      fields: [field('day', 'Tag', 'Day', 'date')],
    });
    await lethe.categories.register({
      ...{ key: 'statistics', label_de: 'Statistik', label_en: 'Statistics' },
      fields: [field('messages', 'Nachrichten', 'Messages')],
    });
    const used = new Lethe({ url: service.url, key: bot.key });
    calls = (['json', 'begun'] as const).map((name) => jest.spyOn(used['transport'], name));
    seat = await start({ lethe: used, onError: (error) => void errors.push(error) }, bot.key);
  });
  afterEach(async () => {
    await seat.stop();
    expect(errors).toEqual([]);
    // A user whose call meets the limiter waits for the next minute, and reads no failure.
    for (const [route, , , options] of calls.flatMap(({ mock }) => mock.calls as unknown[][]))
      if (!String(route).endsWith('/certificate')) expect([route, options]).toEqual([route, PATIENTLY]);
  });

  const idsOf = ({ id, guildId }: DiscordUser) => ({ user_id: id, guild_id: guildId ?? '' });

  it('tells what is stored, asks, stores, exports, revokes and forgets', async () => {
    const robin = user();
    const who = idsOf(robin);
    const about = await robin.privacy('about');
    expect(about.embeds[0]?.description).toContain('To congratulate you.');
    expect(about.embeds[0]?.description).toContain('privacy@bot.example');

    const asked = await robin.privacy('consent');
    expect(buttonsOf(asked)).toEqual(['I agree', 'Agree to the selection (0)', 'No, thank you']);
    expect((await lethe.consents.status(who)).status).toBe('pending');
    const chosen = await robin.select(asked, ['Birthday']);
    const done = await robin.press(chosen, 'Agree to the selection (1)');
    expect(done.files['consent-receipt.jwt']).toMatch(/^eyJ/);
    const status = await lethe.consents.status(who);
    expect(status).toMatchObject({
      status: 'accepted',
      categories: [
        { key: 'birthday', status: 'accepted' },
        { key: 'statistics', status: 'none' },
      ],
    });

    await lethe.data.submit({ ...who, category: 'birthday', data: { day: '2000-02-29' } });
    const exported = await robin.privacy('export');
    expect(JSON.parse(exported.files['privacy-export.json'] ?? '')).toMatchObject({
      ...{ userId: robin.id, data: { birthday: { day: '2000-02-29' } }, bot: { name: expect.any(String) } },
    });

    const revoking = await robin.privacy('revoke');
    const revoked = await robin.press(revoking, 'Withdraw everything');
    expect(revoked.content).toContain('You have withdrawn your consent.');
    expect((await lethe.consents.status(who)).status).toBe('revoked');

    const sure = await robin.privacy('forget', { where: 'here' });
    const erased = await robin.press(sure, 'Erase my data');
    expect(erased.content).toContain('Your data has been erased.');
    expect(componentsOf(erased)).toEqual([]);
    // A press that does nothing leaves the salts in the message.
    expect((await robin.send(erased, 'lethe1:f:here:?')).files).toEqual(erased.files);
    const file = JSON.parse(erased.files['erasure-certificate.json'] ?? '') as {
      certificates: Record<string, string>[];
    };
    const [{ certificate = '', certificate_salt: salt = '' } = {}] = file.certificates;
    const named = { salt, botId, userId: robin.id, guildId: robin.guildId ?? '' };
    expect(verifyCertificate(certificate, await lethe.publicKeys(), named)).toMatchObject({
      deleted_categories: ['birthday'],
    });

    const seen: string[] = [];
    const on = {
      consent_revoked: () => void seen.push('revoked'),
      user_forgotten: () => void seen.push('forgotten'),
    };
    const handler = createWebhookHandler({ secrets: secret, on, lethe });
    for (const call of await receiver.received(2)) await handler.handle(call);
    expect(seen.sort()).toEqual(['forgotten', 'revoked']);
  });
});
