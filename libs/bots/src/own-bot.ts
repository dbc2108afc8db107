import type { Caller } from '@app/http';
import { notFound } from '@app/kernel';
import type { BotPath } from './bots.dto';

/** The path may name the authenticated bot only; any other id is answered like one that does not exist. */
export function ownBot(bot: Caller, { bot_id }: BotPath): string {
  if (bot_id.toLowerCase() !== bot.botId) throw notFound('Bot');
  return bot.botId;
}
