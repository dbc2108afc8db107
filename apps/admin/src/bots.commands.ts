import { BotAdministration } from '@app/bots';
import { NO_TIER } from '@app/kernel';
import { act, listing } from './admin.context';
import type { Command, Flag } from './command-line';

const BOT: Flag = {
  type: 'string',
  value: 'ID',
  description: 'The id of the bot, or its id on the platform: bots:list shows both',
  required: true,
};

type Changed = Awaited<ReturnType<BotAdministration['delete']>>;

/** The bot in the result of each command. */
const named = ({ id, platform_bot_id, name }: Changed) => ({ bot_id: id, platform_bot_id, name });

/** The bot in the words of each command. */
const titleOf = ({ name, platform_bot_id }: Changed) => `bot ${name} (${platform_bot_id})`;

/** A command that does the act of its name to a bot, and says what has become of the bot. */
function change(
  name: 'bots:suspend' | 'bots:resume' | 'bots:delete',
  summary: string,
  became: (bot: Changed) => string,
): Command {
  return {
    name,
    summary,
    flags: { bot: BOT },
    run: async (given, surroundings) => {
      const bot = await act(surroundings, name, String(given['bot']));
      await surroundings.result(named(bot));
      surroundings.tell(`The ${titleOf(bot)} ${became(bot)}.`);
    },
  };
}

const list: Command = {
  name: 'bots:list',
  rows: true,
  summary: 'Writes every bot as a line of JSON',
  flags: {},
  run: listing((nest) => nest.get(BotAdministration, { strict: false }).all()),
};

const newKey: Command = {
  name: 'bots:new-key',
  summary: 'Voids every key of a bot and writes a new one, for a key that was lost or leaked',
  flags: { bot: BOT },
  run: async (given, surroundings) => {
    const { bot, key } = await act(surroundings, 'bots:new-key', String(given['bot']));
    await surroundings.result({ ...named(bot), api_key: key }, `${key}\n`);
    surroundings.tell(`The earlier keys of the ${titleOf(bot)} are void.`);
  },
};

const suspend = change(
  'bots:suspend',
  'Suspends a bot: it can still serve its users (docs/operate.md has the list), and its webhook calls wait',
  (bot) => (bot.suspended_at === null ? 'is suspended' : 'was suspended already: nothing has changed'),
);

const resume = change(
  'bots:resume',
  'Ends the suspension of a bot; the webhook calls that have waited are sent',
  (bot) => (bot.suspended_at === null ? 'was not suspended: nothing has changed' : 'is no longer suspended'),
);

const tier: Command = {
  name: 'bots:tier',
  summary: 'Stores the tier of a bot, which sets its requests per minute',
  flags: {
    bot: BOT,
    tier: {
      type: 'string',
      value: 'NAME',
      description: `A tier of RATE_LIMIT_TIERS; \`${NO_TIER}\` removes the stored one, so that the settings decide`,
      required: true,
    },
  },
  run: async (given, surroundings) => {
    const bot = await act(surroundings, 'bots:tier', String(given['bot']), String(given['tier']));
    await surroundings.result({ ...named(bot), tier: bot.tier });
    surroundings.tell(`The ${titleOf(bot)} has the tier ${bot.tier}.`);
  },
};

const remove = change(
  'bots:delete',
  'Deletes a bot with everything that it has stored; this cannot be undone',
  () => 'is deleted',
);

export const BOT_COMMANDS: readonly Command[] = [list, newKey, suspend, resume, tier, remove];
