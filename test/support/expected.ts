import type { Answer, Json } from './client';
import { engine } from './database';
import type { SubjectIds } from './snowflakes';

export const AN_ID: unknown = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
);
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
export const A_TIME: unknown = expect.stringMatching(TIME);
/** Of a completed erasure. On PostgreSQL a job sets it, at any time after the completion. */
const UNRECOVERABLE_AT: unknown = {
  asymmetricMatch: (given: unknown) =>
    (given === null && engine === 'postgres') || (typeof given === 'string' && TIME.test(given)),
};
export const A_TEXT: unknown = expect.stringMatching(/./s);
/** A compact JWS (RFC 7515) with an Ed25519 signature. */
export const A_JWS: unknown = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{86}$/);
export const A_DIGEST: unknown = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
export const A_KEY: unknown = expect.stringMatching(/^sk_live_[0-9A-Za-z]{49}$/);
export const A_SECRET: unknown = expect.stringMatching(/^whsec_[0-9A-Za-z+/]{43}=$/);

/** The whole answer is this success: status, envelope, and `data` with exactly these keys. */
export function expectSuccess(answer: Answer<unknown>, status: number, data: unknown): void {
  expect({ status: answer.status, body: answer.body }).toStrictEqual({
    status,
    body: { success: true, data },
  });
}

/** The whole answer is this error; `details` is equal to the given one, or anything if none is given. */
export function expectFailure(answer: Answer<unknown>, status: number, code: string, details?: Json): void {
  const got = answer.body as { success: boolean; error?: { code?: string; details?: Json } };
  expect({ status: answer.status, success: got.success, code: got.error?.code }).toStrictEqual({
    status,
    success: false,
    code,
  });
  if (details !== undefined) expect(answer.error.details).toStrictEqual(details);
}

/** 400 `invalid_request` with exactly these fields, each with a sentence on how to mend it. */
export function expectFaults(answer: Answer<unknown>, ...fields: string[]): void {
  expectFailure(answer, 400, 'invalid_request');
  const listed = answer.error.details?.['fields'] as { field: string; message: string }[];
  expect(listed).toStrictEqual(listed.map(({ field }) => ({ field, message: A_TEXT })));
  expect(listed.map(({ field }) => field).sort()).toStrictEqual([...fields].sort());
}

/** Two errors that are equal except for request ids and rate limit headers. */
export function expectSameRefusal(one: Answer<unknown>, other: Answer<unknown>): void {
  expect({ status: one.status, text: one.text }).toStrictEqual({ status: other.status, text: other.text });
}

export function pagination(page: number, pageSize: number, totalCount: number): Json {
  return {
    page,
    page_size: pageSize,
    total_count: totalCount,
    total_pages: Math.ceil(totalCount / pageSize),
    next: page * pageSize < totalCount ? expect.any(String) : null,
  };
}

export function registeredBot(given: Json): Json {
  return {
    id: AN_ID,
    platform_bot_id: given['platform_bot_id'],
    name: given['name'],
    api_key: A_KEY,
    api_key_prefix: expect.stringMatching(/^sk_live_[0-9A-Za-z]{8}$/) as unknown,
    webhook_secret: A_SECRET,
    notice: A_TEXT,
  };
}

export function botView(bot: { id: string; platformBotId: string; key: string }, given: Json = {}): Json {
  return {
    id: bot.id,
    platform_bot_id: bot.platformBotId,
    name: 'Test bot',
    privacy_contact: null,
    webhook_url: null,
    webhook_health: given['webhook_url'] == null ? null : (expect.any(Object) as object),
    api_key_prefix: bot.key.slice(0, 16),
    created_at: A_TIME,
    updated_at: A_TIME,
    ...given,
  };
}

export function server(guildId: string, name: string | null = null): Json {
  return { id: AN_ID, guild_id: guildId, name, created_at: A_TIME, deletion_scheduled_for: null };
}

/** A category in an answer: the declaration with its defaults. */
export function category(given: Json): Json {
  return {
    id: AN_ID,
    description: null,
    retention_days: null,
    legal_basis: 'consent',
    ...given,
    created_at: A_TIME,
  };
}

export function consentRequested(version: string, given: Json = {}): Json {
  return { id: AN_ID, status: 'pending', version, requested_at: A_TIME, ...given };
}

/** The answer to revoke, and to accept beside a receipt. */
export function consentRecord(who: SubjectIds, given: Json): Json {
  return { id: AN_ID, ...who, requested_at: A_TIME, accepted_at: A_TIME, revoked_at: null, ...given };
}

/** The answer of `consents/status`. */
export function consentStatus(who: SubjectIds, given: Json = {}): Json {
  const times = { accepted_at: null, revoked_at: null, declined_at: null };
  return { status: 'none', version: null, ...who, ...times, ...given };
}

export function submitted(who: SubjectIds, categoryKey: string): Json {
  return { ...who, category: categoryKey, stored: true, updated_at: A_TIME };
}

export function exportRecord(who: SubjectIds, bot: { id: string; name: string }, given: Json = {}): Json {
  return {
    userId: who.user_id,
    guildId: who.guild_id,
    exportedAt: A_TIME,
    bot: { id: bot.id, name: bot.name },
    consent: { status: 'accepted', version: '1.0', acceptedAt: A_TIME },
    data: {},
    ...given,
  };
}

/** The answer of `gdpr/forget-user`. */
export function forgotten(deletedCategories: string[]): Json {
  return {
    request_id: AN_ID,
    status: 'completed',
    deleted_categories: deletedCategories,
    completed_at: A_TIME,
    certificate_salt: A_TEXT,
    notice: A_TEXT,
  };
}

/** The answer of `gdpr/forget-status`. */
export function deletionRequest(who: SubjectIds, requestId: string, given: Json = {}): Json {
  return {
    request_id: requestId,
    status: 'completed',
    ...who,
    created_at: A_TIME,
    completed_at: A_TIME,
    deleted_categories: [],
    webhook_sent: false,
    ...given,
    unrecoverable_at: given['completed_at'] === null ? null : UNRECOVERABLE_AT,
  };
}

export function auditEvent(who: SubjectIds, eventType: string, given: Json = {}): Json {
  return {
    id: AN_ID,
    ...who,
    event_type: eventType,
    source: 'service',
    details: null,
    created_at: A_TIME,
    ...given,
  };
}
