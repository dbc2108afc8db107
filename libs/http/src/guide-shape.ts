import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { ApiError, invalidRequest, notFound, BOT_WIDE_GUILD_ID } from '@app/kernel';
import type { Caller, LetheRequest } from './request-context';

type Raw = Readonly<Record<string, unknown>>;

/**
 * The guide's shape names the bot and no guild: it becomes the canonical call in the bot-wide scope. With a
 * `guild_id` present the shape is canonical and `bot_id` an unknown field.
 * @throws ApiError 404 for another bot's id, 400 for one that is no text.
 */
function inBotWideScope(raw: Raw, caller: Caller | undefined): Raw {
  if (raw['bot_id'] == null || raw['guild_id'] != null) return raw;
  requireOwnBot(raw['bot_id'], caller);
  return { ...raw, guild_id: BOT_WIDE_GUILD_ID };
}

/** `bot_id` of the guide is the bot's id or its platform id. */
export function requireOwnBot(botId: unknown, caller: Caller | undefined): void {
  if (typeof botId !== 'string') throw invalidRequest([{ field: 'bot_id', message: 'must be a string' }]);
  if (botId.toLowerCase() !== caller?.botId && botId !== caller?.platformBotId) throw notFound('Bot');
}

function translated(raw: unknown, caller: Caller | undefined): unknown {
  if (typeof raw !== 'object' || raw === null || raw instanceof ApiError) return raw;
  return inBotWideScope(raw as Raw, caller);
}

/** The body in the canonical shape, whichever of the two was sent. */
export const SubjectBody = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const request = context.switchToHttp().getRequest<LetheRequest>();
  // A missing body is the pipe's to refuse; undefined would be taken for an argument that was left out.
  return translated(request.body ?? null, request.context.caller);
});

/** The query in the canonical shape, whichever of the two was sent. */
export const SubjectQuery = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const request = context.switchToHttp().getRequest<LetheRequest>();
  return translated(request.query, request.context.caller);
});

/** The guide registers a bot under the name `bot_id`. */
export const RegistrationBody = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const body = context.switchToHttp().getRequest<LetheRequest>().body ?? null;
  if (body === null || body instanceof ApiError || body['platform_bot_id'] != null) return body;
  return { ...body, platform_bot_id: body['bot_id'] };
});
