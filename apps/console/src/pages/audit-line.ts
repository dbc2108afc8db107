import { type Kind, WORDS } from '../words';
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

/** The words of a language, and the labels of the bot for its categories. */
export interface Wording {
  readonly named: (kind: Kind, value: string) => string;
  readonly labelOf: (category: string) => string;
}

const AS_IT_IS: Wording = { named: (_, value) => value, labelOf: (category) => category };

/** Details whose values are words of the service. */
const CODED: Readonly<Record<string, Kind>> = {
  ...{ format: 'format', scope: 'scope', reason: 'reason' },
  ...{ via: 'actor', actor: 'actor', act: 'act' },
};

/** The details by their names. What the service writes has words; the names of a bot are its own. */
export function wordedOf(
  { source, details }: ShownEvent,
  wording: Wording,
  leaves: readonly string[] = [],
): Readonly<Record<string, unknown>> | null {
  if (details === null || source !== 'service') return details as Readonly<Record<string, unknown>> | null;
  return Object.fromEntries(
    Object.entries(details)
      .filter(([name]) => !leaves.includes(name))
      .map(([name, value]: [string, unknown]) => [
        wording.named('detail', name),
        worded(name, value, wording),
      ]),
  );
}

function worded(name: string, value: unknown, { named, labelOf }: Wording): unknown {
  if (Array.isArray(value) && name === 'categories') return value.map((each) => labelOf(String(each)));
  if (typeof value !== 'string') return value;
  if (name === 'category') return labelOf(value);
  const kind = Object.hasOwn(CODED, name) ? CODED[name] : undefined;
  return kind === undefined ? value : named(kind, value);
}

/** The details in one line, without the actor and the act, which have their own columns. `via` says what the actor says. */
export function lineOf(event: ShownEvent, wording = AS_IT_IS): string {
  const apart = [
    ...(actorOf(event) === undefined ? [] : ['actor', 'via']),
    ...(actOf(event) === undefined ? [] : ['act']),
  ];
  const parts = Object.entries(wordedOf(event, wording, apart) ?? {});
  const line = parts.map(([name, value]) => `${name}: ${textOf(value)}`).join(' · ');
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return JSON.stringify(value);
}
