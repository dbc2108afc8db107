import type { ShownEvent } from './audit-walk';

/** Characters of the line of details at most; the rest is below it. */
const LINE_MAX = 200;

/** Who acted, as the service says it. A bot can write what it likes into its own events. */
export function actorOf({ source, details }: ShownEvent): string | undefined {
  if (source !== 'service' || details === null) return undefined;
  const actor: unknown = Object.hasOwn(details, 'actor') ? (details as { actor: unknown }).actor : undefined;
  return typeof actor === 'string' ? actor : undefined;
}

/**
 * The details in one line, without the actor, which has its own column. What the service writes has words; the names of a bot
 * are its own.
 */
export function lineOf(event: ShownEvent, named: (key: string) => string = (key) => key): string {
  const { details } = event;
  if (details === null) return '';
  const hasActor = actorOf(event) !== undefined;
  const parts = Object.entries(details).flatMap(([key, value]: [string, unknown]) =>
    hasActor && key === 'actor' ? [] : [`${event.source === 'service' ? named(key) : key}: ${textOf(value)}`],
  );
  const line = parts.join(' · ');
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return JSON.stringify(value);
}
