import type { PrivacyOptions } from '@lethe/discord';
import { Lethe } from '@lethe/sdk';
import { coreSeat } from './discord-seats';
import { componentsOf, DiscordUser } from './discord-user';
import type { DiscordMessage, FakeDiscord } from './fake-discord';
import type { Service } from './service';

export const categoryOf = (key: string, label: string, description?: string) => ({
  ...{ key, label_de: `${label} (de)`, label_en: label, ...(description && { description }) },
  fields: [{ key: 'value', type: 'string', label_de: 'Wert', label_en: 'Value' } as const],
});

/** A bot with categories and its users, on the conversation without an adapter. */
export async function discordBot(
  { service, discord }: { service: Service; discord: FakeDiscord },
  categories: readonly object[],
  given: Partial<PrivacyOptions> = {},
) {
  const registered = await service.registerBot({ privacy_contact: 'privacy@bot.example' });
  const lethe = new Lethe({ url: service.url, key: registered.key });
  for (const category of categories)
    await lethe.categories.register(category as ReturnType<typeof categoryOf>);
  const errors: unknown[] = [];
  const seat = coreSeat(discord, { lethe, onError: (error) => void errors.push(error), ...given });
  const user = (locale?: string, guild?: string | null, id?: string) =>
    new DiscordUser({ discord, ...seat }, guild, locale, id);
  return { lethe, errors, user, seat };
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
