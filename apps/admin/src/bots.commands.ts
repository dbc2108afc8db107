import { BotAdministration } from '@app/bots';
import { NO_TIER } from '@app/kernel';
import { act } from './acts';
import { inContext } from './admin.context';
import type { Command, Flag } from './command';

const BOT: Flag = {
  type: 'string',
  value: 'ID',
  description: 'The id of the bot, or its id on the platform: bots:list shows both',
  required: true,
};

const list: Command = {
  name: 'bots:list',
  rows: true,
  summary: 'Writes every bot as a line of JSON',
  flags: {},
  run: (_, surroundings) =>
    inContext(
      surroundings,
      async (nest) => {
        for await (const bot of nest.get(BotAdministration, { strict: false }).all())
          await surroundings.data(`${JSON.stringify(bot)}\n`);
      },
      'read',
    ),
};

const newKey: Command = {
  name: 'bots:new-key',
  summary: 'Voids every key of a bot and writes a new one, for a key that was lost or leaked',
  flags: { bot: BOT },
  run: async (given, surroundings) => {
    const { bot, key } = await act(surroundings, 'bots:new-key', String(given['bot']));
    await surroundings.result({ ...named(bot), api_key: key }, `${key}\n`);
    surroundings.tell(`The earlier keys of the bot ${bot.name} (${bot.platform_bot_id}) are void.`);
  },
};

const remove: Command = {
  name: 'bots:delete',
  summary: 'Deletes a bot with everything that it has stored; this cannot be undone',
  flags: { bot: BOT },
  run: async (given, surroundings) => {
    const bot = await act(surroundings, 'bots:delete', String(given['bot']));
    await surroundings.result(named(bot));
    surroundings.tell(`The bot ${bot.name} (${bot.platform_bot_id}) is deleted.`);
  },
};

const suspend: Command = {
  name: 'bots:suspend',
  summary:
    'Suspends a bot: it can read, export, erase and revoke, and nothing else, and its webhook calls wait',
  flags: { bot: BOT },
  run: async (given, surroundings) => {
    const bot = await act(surroundings, 'bots:suspend', String(given['bot']));
    await surroundings.result(named(bot));
    const was = bot.suspended_at === null ? 'is suspended' : 'was suspended already: nothing has changed';
    surroundings.tell(`The bot ${bot.name} (${bot.platform_bot_id}) ${was}.`);
  },
};

const resume: Command = {
  name: 'bots:resume',
  summary: 'Ends the suspension of a bot; the webhook calls that have waited are sent',
  flags: { bot: BOT },
  run: async (given, surroundings) => {
    const bot = await act(surroundings, 'bots:resume', String(given['bot']));
    await surroundings.result(named(bot));
    const was =
      bot.suspended_at === null ? 'was not suspended: nothing has changed' : 'is no longer suspended';
    surroundings.tell(`The bot ${bot.name} (${bot.platform_bot_id}) ${was}.`);
  },
};

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
    surroundings.tell(`The bot ${bot.name} (${bot.platform_bot_id}) has the tier ${bot.tier}.`);
  },
};

export const BOT_COMMANDS: readonly Command[] = [list, newKey, suspend, resume, tier, remove];

type Named = Readonly<Record<'id' | 'platform_bot_id' | 'name', string>>;

const named = ({ id, platform_bot_id, name }: Named) => ({ bot_id: id, platform_bot_id, name });
