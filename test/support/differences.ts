import { payloadOf } from './sealing';

type Value = Readonly<Record<string, unknown>>;

/** What an answer says of its own moment. */
const OF_THE_MOMENT = ['exportedAt', 'next', 'last_used_at', 'iat', 'asked_at', 'deletion_scheduled_for'];

/** Each export is an event. */
const GROWING = /audit_events$/;

/**
 * What an answer of today lacks of an earlier one, or says otherwise. A further field is no difference, and no
 * later event of the audit log.
 */
export function differences(then: unknown, now: unknown, place = ''): string[] {
  if (Array.isArray(then) && Array.isArray(now)) {
    if (then.length !== now.length && !(GROWING.test(place) && now.length > then.length))
      return [`${place} has ${now.length} of ${then.length}`];
    return then.flatMap((value, at) => differences(value, now[at], `${place}[${at}]`));
  }
  if (isObject(then) && isObject(now))
    return Object.entries(then).flatMap(([key, value]) =>
      OF_THE_MOMENT.includes(key) ? [] : differences(value, now[key], `${place}.${key}`),
    );
  if (isStatement(then) && isStatement(now)) return differences(payloadOf(then), payloadOf(now), place);
  return Object.is(then, now) ? [] : [`${place} is ${JSON.stringify(now)}, not ${JSON.stringify(then)}`];
}

/** A signed statement is signed anew in each answer. */
const isStatement = (value: unknown): value is string =>
  typeof value === 'string' && /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value);

const isObject = (value: unknown): value is Value =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
