import { BOT_WIDE_GUILD_ID, invalidRequest, notFound } from '@app/kernel';
import { createParamDecorator, ExecutionContext, type Type } from '@nestjs/common';
import { ApiBody, ApiQuery, getSchemaPath } from '@nestjs/swagger';
import { type DescribedOperation, documenting } from './describes';
import type { Caller, LetheRequest } from './request-context';

/**
 * The shape of the guide names the bot and no guild. It is rewritten to the canonical call in the bot-wide scope, unless the field
 * `naming` says what the call is about. With a `guild_id` the shape is canonical, and `bot_id` is an unknown field.
 * @throws ApiError 404 for the id of another bot, 400 for an id that is not a text.
 */
function translated(raw: unknown, caller: Caller | undefined, naming = 'guild_id'): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  const given = raw as Readonly<Record<string, unknown>>;
  if (given['bot_id'] == null || given['guild_id'] != null) return raw;
  requireOwnBot(given['bot_id'], caller);
  return given[naming] == null ? { ...given, guild_id: BOT_WIDE_GUILD_ID } : raw;
}

/** In the guide's shape, `bot_id` is the id of the bot or its platform id. */
export function requireOwnBot(botId: unknown, caller: Caller | undefined): void {
  if (typeof botId !== 'string') throw invalidRequest([{ field: 'bot_id', message: 'must be a string' }]);
  if (botId.toLowerCase() !== caller?.botId && botId !== caller?.platformBotId) throw notFound('Bot');
}

const CanonicalBody = createParamDecorator((naming: string | undefined, context): unknown => {
  const request = context.switchToHttp().getRequest<LetheRequest>();
  return translated(request.body ?? {}, request.context.caller, naming);
});

/**
 * The body in the canonical shape, for a body in either shape. It documents both. `naming` is a field that says what the call is about
 * in place of user and guild.
 */
export const SubjectBody = (naming?: string): ParameterDecorator =>
  documenting(CanonicalBody(naming), (type) => EitherShape(type, 'guild_id'));

const CanonicalQuery = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const request = context.switchToHttp().getRequest<LetheRequest>();
  return translated(request.query, request.context.caller);
});

/** The query in the canonical shape, for a query in either shape. It documents the canonical one. */
export const SubjectQuery = (): ParameterDecorator =>
  documenting(CanonicalQuery(), (type) => ApiQuery({ type }));

/** The guide's shape of a registration has `bot_id` in place of `platform_bot_id`. */
export const RegistrationBody = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const body = (context.switchToHttp().getRequest<LetheRequest>().body ?? {}) as Record<string, unknown>;
  if (body['platform_bot_id'] != null) return body;
  return { ...body, platform_bot_id: body['bot_id'] };
});

/**
 * Documents a body in the canonical shape of `type`, or in the guide's shape, which has `bot_id` in place of one field.
 */
export function EitherShape(type: Type, replaced: 'guild_id' | 'platform_bot_id'): MethodDecorator {
  const canonical = getSchemaPath(type);
  const schema = { anyOf: [{ $ref: canonical }, { $ref: canonical + GUIDE_SUFFIX[replaced] }] };
  return ApiBody({ type, schema });
}

/** Removes the reference to the type beside its two shapes, by which NestJS has made its schema. */
export function withEitherShape({ requestBody }: DescribedOperation): void {
  const schema = requestBody?.content['application/json']?.schema ?? {};
  if ('anyOf' in schema && '$ref' in schema) delete schema.$ref;
}

const GUIDE_SUFFIX = { guild_id: 'ForBot', platform_bot_id: 'ByBotId' } as const;

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** The schemas of the guide's shapes that the document refers to. Each is made from its canonical schema. */
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
