import type { Json } from '../../support/client';

/** The predictable part of one event of the log. */
export interface Happened {
  readonly user: number;
  readonly guild: number;
  readonly type: string;
  readonly source: 'service' | 'client';
  details: Json | null;
  isErased?: true;
}

/** The content of a request that waits. */
interface Asked {
  readonly serial: number;
  readonly version: string;
  readonly categories: readonly string[] | null;
}

type State = 'none' | 'pending' | 'accepted' | 'revoked';

/** The decision of one subject, with the request that waits and the stored values. */
export class Person {
  status: State = 'none';
  serial = 0;
  version: string | null = null;
  categories: Map<string, string> | null = null;
  pending: Asked | null = null;
  readonly data = new Map<string, Json>();
  /** The withdrawn consent that a request with the status `pending` has replaced. */
  private before: Pick<Person, 'status' | 'serial' | 'version' | 'categories'> | null = null;
  /** Whether a history of requests is held. */
  wasAsked = false;

  /** The request that waits for an answer. */
  get waiting(): Asked | null {
    if (this.status !== 'pending') return this.pending;
    const { serial, version, categories } = this;
    return { serial, version: version ?? '', categories: categories && [...categories.keys()] };
  }

  grants(category: string): boolean {
    return (
      this.status === 'accepted' &&
      (this.categories?.get(category) ?? 'accepted') === 'accepted' &&
      (this.categories === null || this.categories.has(category))
    );
  }

  /** The answer to a repeated request, equal to the first one; undefined for a new request. */
  repeats(version: string, categories: readonly string[] | null): State | undefined {
    const { waiting } = this;
    if (waiting?.version === version && sameSet(waiting.categories, categories)) return 'pending';
    const granted = this.version === version && (categories ?? []).every((key) => this.grants(key));
    return this.status === 'accepted' && granted ? 'accepted' : undefined;
  }

  /** Whether the consent in force is that of the request, for these categories or for all that it names. */
  hasGiven(serial: number, named: readonly string[] | null): boolean {
    const keys = this.categories && [...this.categories.keys()];
    const granted = keys && keys.filter((key) => this.grants(key));
    return this.status === 'accepted' && this.serial === serial && sameSet(granted, named ?? keys);
  }

  ask(asked: Asked): void {
    this.wasAsked = true;
    if (this.status === 'accepted') {
      this.pending = asked;
      return;
    }
    if (this.status !== 'pending')
      this.before = this.status === 'none' ? null : { ...this.decided(), status: 'revoked' };
    const { serial, version, categories } = asked;
    Object.assign(this, { status: 'pending', serial, version, pending: null });
    this.categories = categories && new Map(categories.map((key) => [key, 'pending']));
  }

  accept({ serial, version, categories }: Asked, named: readonly string[] | null): void {
    Object.assign(this, { status: 'accepted', serial, version, pending: null, before: null });
    const keys = categories ?? named;
    this.categories =
      keys && new Map(keys.map((key) => [key, named === null || named.includes(key) ? 'accepted' : 'none']));
  }

  revokeAll(): void {
    Object.assign(this, { status: 'revoked', pending: null });
    if (this.categories !== null) withdraw(this.categories, [...this.categories.keys()]);
  }

  /** Withdraws some categories; false when no granted one would remain. */
  revokeSome(withdrawn: readonly string[], declared: readonly string[]): boolean {
    const left = new Map(this.categories ?? declared.map((key) => [key, 'accepted']));
    withdraw(left, withdrawn);
    if (![...left.values()].includes('accepted')) return false;
    this.categories = left;
    return true;
  }

  /** Removes a category whose declaration is deleted. A request for nothing else ends. */
  forgetCategory(category: string): void {
    const { waiting } = this;
    for (const categories of [this.categories, this.before?.categories]) categories?.delete(category);
    if (waiting?.categories?.includes(category) !== true) return;
    const categories = waiting.categories.filter((key) => key !== category);
    if (this.status !== 'pending') this.pending = categories.length === 0 ? null : { ...waiting, categories };
    else if (categories.length === 0) {
      const none = { status: 'none', version: null, categories: null };
      Object.assign(this, this.before ?? none, { before: null });
    }
  }

  erase(): string[] {
    const keys = [...this.data.keys()].sort();
    const nothing = { status: 'none', version: null, categories: null, pending: null };
    Object.assign(this, nothing, { before: null, wasAsked: false });
    this.data.clear();
    return keys;
  }

  private decided(): Pick<Person, 'serial' | 'version' | 'categories'> {
    const { serial, version, categories } = this;
    return { serial, version, categories };
  }

  /** The states in `status`: decisions, and `pending` for categories of a request that waits. */
  states(): { key: string; status: string }[] | undefined {
    if (this.categories === null) return undefined;
    const found = new Map(this.categories);
    for (const key of this.pending?.categories ?? [])
      if (found.get(key) !== 'accepted') found.set(key, 'pending');
    return [...found].map(([key, status]) => ({ key, status }));
  }
}

function withdraw(states: Map<string, string>, keys: readonly string[]): void {
  for (const key of keys) if (states.get(key) === 'accepted') states.set(key, 'revoked');
}

function sameSet(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((key) => other.includes(key));
}

/** RFC 7396, from the pseudo-code of its section 2. */
export function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

export const withoutNulls = (data: Json): Json =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
