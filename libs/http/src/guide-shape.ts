import { BOT_WIDE_GUILD_ID, ApiError, invalidRequest, notFound } from '@app/kernel';
import { applyDecorators, createParamDecorator, ExecutionContext, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
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

/** The documentation of a body in the canonical shape of `type`, or in the guide's: with `bot_id` in place of a field. */
export function EitherShape(type: Type, replaced: 'guild_id' | 'platform_bot_id'): MethodDecorator {
  const canonical = getSchemaPath(type);
  return applyDecorators(
    ApiExtraModels(type),
    ApiBody({
      schema: { anyOf: [{ $ref: canonical }, { $ref: canonical + GUIDE_SUFFIX[replaced] }] },
    }),
  );
}

const GUIDE_SUFFIX = { guild_id: 'ForBot', platform_bot_id: 'ByBotId' } as const;

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** Schemas of the guide's shape that the document refers to, each made of its canonical schema. */
export function guideSchemas(
  document: object,
  schemas: Readonly<Record<string, unknown>>,
): Record<string, object> {
  const text = JSON.stringify(document);
  const made: Record<string, object> = {};
  for (const [replaced, suffix] of Object.entries(GUIDE_SUFFIX)) {
    for (const [name, schema] of Object.entries(schemas)) {
      if (text.includes(`"#/components/schemas/${name}${suffix}"`)) {
        made[name + suffix] = inGuideShape(schema as ObjectSchema, replaced);
      }
    }
  }
  return made;
}

function inGuideShape(schema: ObjectSchema, replaced: string): object {
  const others = Object.entries(schema.properties ?? {}).filter(([name]) => name !== replaced);
  const required = (schema.required ?? []).filter((name) => name !== replaced);
  return {
    ...schema,
    properties: { bot_id: GUIDE_BOT_ID, ...Object.fromEntries(others) },
    required: ['bot_id', ...required],
  };
}

const GUIDE_BOT_ID = { type: 'string', description: 'The id of the bot at its platform, or its `id` here' };
