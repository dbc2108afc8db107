import type { Command } from 'commander';
import type { Schemas } from '@lethe/sdk';
import { wrongUsage } from '../failures';
import { Session, webAddress } from '../session';

const COUNTED_MAX = 10_000;

interface Change {
  readonly name?: string;
  readonly webhookUrl?: string | false;
  readonly privacyContact?: string | false;
}

export function addBot(program: Command): void {
  const bot = program
    .command('bot')
    .summary('show the bot, or change it')
    .description('Shows the bot of the key, and how its webhook calls fare.')
    .action(async (_options: object, command: Command) => {
      const session = new Session(command);
      show(session, await session.client().bots.me());
    });
  bot
    .command('set')
    .description('Changes what is given, and leaves the rest as it is.')
    .option('--name <name>', 'name of the bot, as users see it')
    .option('--webhook-url <url>', 'where the service sends its webhook calls')
    .option('--no-webhook-url', 'no webhook calls any more')
    .option('--privacy-contact <address>', 'mail address for questions of users')
    .option('--no-privacy-contact', 'no such address any more')
    .action((change: Change, command: Command) => set(new Session(command), change));
}

async function set(
  session: Session,
  { name, webhookUrl: url, privacyContact: contact }: Change,
): Promise<void> {
  if (name === undefined && url === undefined && contact === undefined)
    throw wrongUsage('Nothing to change was given.', 'lethe bot set --help lists what can be changed.');
  if (typeof url === 'string') webAddress(url, '--webhook-url');
  const changed = await session.client().bots.change({
    ...(name !== undefined && { name }),
    ...(url !== undefined && { webhook_url: url || null }),
    ...(contact !== undefined && { privacy_contact: contact || null }),
  });
  show(session, changed);
}

/** The service counts calls up to a bound. */
const atLeast = (calls: number): string => (calls < COUNTED_MAX ? `${calls}` : `${calls} or more`);

function show({ output }: Session, bot: Schemas['BotView']): void {
  const { webhook_health: health } = bot;
  const rows = Object.entries({
    name: bot.name,
    id: bot.id,
    platform_bot_id: bot.platform_bot_id,
    privacy_contact: bot.privacy_contact ?? 'none',
    webhook_url: bot.webhook_url ?? 'none, so no webhook calls are made',
    ...(health !== null && {
      webhooks: `${health.status}, ${atLeast(health.pending)} waiting, ${atLeast(health.undelivered)} given up`,
    }),
    created_at: bot.created_at,
  });
  output.result(bot, output.table(['', ''], rows).replace(/^.*\n/, ''));
}
