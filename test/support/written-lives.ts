import { readFileSync } from 'node:fs';
import { ClientBot } from './sdk-places';
import { subject } from './snowflakes';

type Call = readonly [route: string, given: object, status: number, answer: unknown, once?: string];

/** Calls with their answers, which the tests of the Python client make too. */
export const LIVES = JSON.parse(readFileSync('clients/python/tests/lives.json', 'utf8')) as Readonly<
  Record<string, readonly Call[]>
>;
/** What the fake answers without: it has no consent texts, no signed evidence, no retention and no actors. */
const ABSENT: readonly string[] = ['texts', 'receipt', 'data_erased_at', 'actor'];

/**
 * Each answer beside the one that is written, where `$name` is the same everywhere, `$_` is any value and `$?` any or null.
 * A new key is that of the calls after it. A fifth entry is the `Idempotency-Key`.
 */
export async function lived(
  bot: ClientBot,
  calls: readonly Call[],
): Promise<{ got: unknown; written: unknown }> {
  const { user_id: user, guild_id: guild } = subject();
  const names = new Map<string, unknown>([...Object.entries({ user, guild })]);
  const filled = (shape: unknown, value?: unknown): unknown => {
    if (typeof shape === 'string' && shape.startsWith('$')) {
      const name = shape.slice(1);
      if (name === '?') return value === undefined ? shape : value;
      if (name === '_') return value ?? shape;
      if (!names.has(name) && value != null) names.set(name, value);
      return names.get(name) ?? shape;
    }
    if (Array.isArray(shape)) return shape.map((one, at) => filled(one, (value as unknown[] | null)?.[at]));
    if (typeof shape !== 'object' || shape === null) return shape;
    const of = value as Record<string, unknown> | null | undefined;
    return Object.fromEntries(Object.entries(shape).map(([key, one]) => [key, filled(one, of?.[key])]));
  };
  let key: string | undefined;
  const got: unknown[] = [];
  const written: unknown[] = [];
  for (const [route, given, status, answer, once] of calls) {
    const path = route.replace(/\$(\w+)/g, (_all, name: string) => String(names.get(name)));
    const found = await bot.called(path.split(' '), filled(given) as object, key, once);
    key = (found.answer as { api_key?: string }).api_key ?? key;
    const without = JSON.parse(JSON.stringify(found.answer), (name, value: unknown) =>
      ABSENT.includes(name) ? undefined : value,
    ) as unknown;
    got.push({ route, status: found.status, answer: without });
    written.push({ route, status, answer: filled(answer, without) });
  }
  return { got, written };
}
