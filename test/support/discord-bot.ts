import type { PrivacyOptions } from '@lethe/discord';
import { Lethe } from '@lethe/sdk';
import { discordPySeat, HAS_DISCORD_PY } from './discord-py-seat';
import { type BotSeat, coreSeat } from './discord-seats';
import { componentsOf, DiscordUser } from './discord-user';
import type { DiscordMessage, FakeDiscord } from './fake-discord';
import { casesOf } from './depth';
import type { Service } from './service';
import { snowflake } from './snowflakes';

export const categoryOf = (key: string, label: string, description?: string) => ({
  ...{ key, label_de: `${label} (de)`, label_en: label, ...(description && { description }) },
  fields: [{ key: 'value', type: 'string', label_de: 'Wert', label_en: 'Value' } as const],
});

export type Kit = '@lethe/discord' | 'lethe_discord';

/** The conversation without an adapter; at full depth also that of lethe_discord, with discord.py. */
export const KITS: readonly Kit[] = casesOf<Kit>(['@lethe/discord'], HAS_DISCORD_PY ? ['lethe_discord'] : []);

const open: BotSeat[] = [];

/** Ends the bots of a test. */
export async function stopBots(): Promise<void> {
  for (const seat of open.splice(0)) await seat.stop();
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface BotGiven {
  readonly service: Pick<Service, 'url' | 'registerBot'>;
  readonly discord: FakeDiscord;
  readonly kit?: Kit;
  /** Those of the key of the kit; all by default. */
  readonly scopes?: ('read' | 'write' | 'erase' | 'admin')[];
}

/** A bot with categories and its users. `stopBots` ends it. */
export async function discordBot(
  { service, discord, kit = '@lethe/discord', scopes }: BotGiven,
  categories: readonly object[],
  given: Partial<PrivacyOptions> = {},
) {
  discord.applicationId = snowflake();
  const registered = await service.registerBot({
    platform_bot_id: discord.applicationId,
    privacy_contact: 'privacy@bot.example',
  });
  const lethe = new Lethe({ url: service.url, key: registered.key });
  for (const category of categories)
    await lethe.categories.register(category as ReturnType<typeof categoryOf>);
  const errors: unknown[] = [];
  const { key } = scopes === undefined ? registered : { key: (await lethe.keys.create({ scopes })).api_key };
  const itsLethe = new Lethe({ url: service.url, key });
  const core = coreSeat(discord, { lethe: itsLethe, onError: (error) => void errors.push(error), ...given });
  const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [snake(name), value]));
  const address = { url: service.url, key };
  const python = kit === 'lethe_discord' ? await discordPySeat(discord, address, options) : undefined;
  const seat = python ?? core;
  open.push(seat);
  const user = (locale?: string, guild?: string | null, id?: string) =>
    new DiscordUser({ discord, ...seat }, guild, locale, id);
  return { lethe, errors: python?.errors ?? errors, user, seat, privacy: core.privacy };
}

export const TWO = [categoryOf('birthday', 'Birthday'), categoryOf('statistics', 'Statistics')];
export const idsOf = ({ id, guildId }: DiscordUser) => ({ user_id: id, guild_id: guildId ?? '0'.repeat(17) });
export const wordsOf = ({ content, embeds }: DiscordMessage): string =>
  [content, embeds[0]?.description].join('\n');

export async function agreed(user: DiscordUser, label = 'I agree'): Promise<DiscordMessage> {
  return user.press(await user.privacy('consent'), label);
}

/** The texts of all pages, and the last one. */
export async function readAll(user: DiscordUser, first: DiscordMessage) {
  const pages = [first];
  const hasNext = (page: DiscordMessage) =>
    componentsOf(page).some(({ label, disabled }) => label === 'Next' && disabled !== true);
  for (let page = first; hasNext(page); pages.push(page)) page = await user.press(page, 'Next');
  return { pages, text: pages.map(({ embeds }) => embeds[0]?.description).join('') };
}
