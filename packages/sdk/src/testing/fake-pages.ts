import type { Json } from './fake-consent';
import { invalid } from './fake-refusal';

const SIZE_MAX = 100;

/** The pages of the lists of a bot. */
export class FakePages {
  /** The rows that are left after a page. */
  private readonly left = new Map<string, readonly string[]>();

  constructor(private readonly newId: () => string) {}

  /** @throws FakeRefusal 400 for a number that is none, and for a cursor of no page */
  of(name: string, all: readonly Json[], given: Json): Json {
    const page = numberOf(given, 'page', Number.MAX_SAFE_INTEGER) ?? 1;
    const size = numberOf(given, 'page_size', SIZE_MAX) ?? 20;
    const { after } = given;
    const left = this.left.get(String(after));
    if (after !== undefined && left === undefined) throw invalid('after', 'must be the next of a page');
    const rows = left ? all.filter((row) => left.includes(nameOf(row))) : all.slice((page - 1) * size);
    const rest = rows.slice(size).map(nameOf);
    const next = rest.length === 0 ? null : this.newId();
    if (next !== null) this.left.set(next, rest);
    const count = { total_count: all.length, total_pages: Math.ceil(all.length / size) };
    return {
      [name]: rows.slice(0, size),
      pagination: { page: left === undefined ? page : null, page_size: size, ...count, next },
    };
  }

  /** A page of a list without totals. @throws FakeRefusal 400 also for a number */
  walk(name: string, all: readonly Json[], given: Json): Json {
    if (given['page'] !== undefined) throw invalid('page', 'does not exist in this list');
    const { pagination, [name]: rows } = this.of(name, all, given);
    const { page_size, next } = pagination as Json;
    return { [name]: rows, pagination: { page_size, next } };
  }
}

function numberOf(given: Json, name: string, max: number): number | undefined {
  const text = given[name];
  if (text === undefined) return undefined;
  const number = typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > max) throw invalid(name, `must be a whole number from 1 to ${max}`);
  return number;
}

const nameOf = ({ id, user_id: userId, guild_id: guildId }: Json): string =>
  JSON.stringify(id ?? [userId, guildId]);
