import { WORDS } from '../words';
import type { ShownEvent } from './audit-walk';

/** Characters of the line of details at most; the rest is below it. */
const LINE_MAX = 200;

/** Who acted, as the service says it. A bot can write what it likes into its own events. */
export function actorOf({ source, details }: ShownEvent): string | undefined {
  if (source !== 'service' || details === null) return undefined;
  const actor: unknown = Object.hasOwn(details, 'actor') ? (details as { actor: unknown }).actor : undefined;
  return typeof actor === 'string' ? actor : undefined;
}

/** The right that a user has exercised with an event of the service, where its act has a word. */
export function actOf({ source, details }: ShownEvent): string | undefined {
  const { act } = (source === 'service' && details !== null ? details : {}) as { readonly act?: unknown };
  return typeof act === 'string' && Object.hasOwn(WORDS.en.act, act) ? act : undefined;
}

/**
 * The details in one line, without the actor and the act, which have their own columns. What the service writes has words; the
 * names of a bot are its own.
 */
export function lineOf(event: ShownEvent, named: (key: string) => string = (key) => key): string {
  const { details } = event;
  if (details === null) return '';
  const apart = [actorOf(event) !== undefined && 'actor', actOf(event) !== undefined && 'act'];
  const parts = Object.entries(details).flatMap(([key, value]: [string, unknown]) =>
    apart.includes(key) ? [] : [`${event.source === 'service' ? named(key) : key}: ${textOf(value)}`],
  );
  const line = parts.join(' · ');
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return JSON.stringify(value);
}
