import type { Tools } from './fake-bot';
import type { Json } from './fake-consent';
import { FakeRefusal, invalid } from './fake-refusal';

const SCOPES = ['read', 'write', 'erase', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key of the fake, and what it may do. */
export interface FakeKey {
  readonly text: string;
  readonly scopes: readonly Scope[];
}

export const lacking = (required: Scope): FakeRefusal =>
  new FakeRefusal('insufficient_scope', `The API key lacks the scope ${required}`, { required });

/** The API keys of a bot. */
export class FakeKeys {
  private readonly keys: FakeKey[] = [];

  constructor(private readonly tools: Pick<Tools, 'newId' | 'nowIso'>) {}

  find(text: string): FakeKey | undefined {
    return this.keys.find((key) => key.text === text);
  }

  issue(scopes: readonly Scope[] = SCOPES): FakeKey {
    const key = { text: `sk_test_${this.tools.newId().replaceAll('-', '')}`, scopes };
    this.keys.push(key);
    return key;
  }

  /** A key with at most the scopes of the calling one. @throws FakeRefusal 400 and 403 */
  create(given: Json, calling: FakeKey): Json {
    const { text, scopes } = this.issue(scopesOf(calling, given));
    const name = given['name'] == null ? {} : { name: given['name'] };
    const shown = {
      id: this.tools.newId(),
      ...name,
      api_key: text,
      api_key_prefix: text.slice(0, 16),
      scopes,
    };
    return { ...shown, expires_at: given['expires_at'] ?? null, created_at: this.tools.nowIso() };
  }
}

function scopesOf({ scopes: own }: FakeKey, { scopes = SCOPES }: Json): readonly Scope[] {
  const isList = Array.isArray(scopes) && scopes.length > 0 && new Set(scopes).size === scopes.length;
  if (!isList || !scopes.every((scope) => SCOPES.includes(scope as Scope)))
    throw invalid('scopes', `must be a list of at least one of ${SCOPES.join(', ')}, each once`);
  const found = SCOPES.filter((scope) => (scopes as readonly Scope[]).includes(scope));
  const further = found.find((scope) => !own.includes(scope));
  if (further !== undefined) throw lacking(further);
  return found;
}

/** Of several scopes one suffices. Without a line here a GET needs `read`, and every other method `write`. */
const NEEDED: Readonly<Record<string, readonly [Scope, ...Scope[]]>> = {
  'GET /bots/me': ['read', 'admin'],
  'GET /bots/{bot_id}': ['read', 'admin'],
  'GET /stats': ['read', 'admin'],
  'POST /bots/{bot_id}/keys': ['admin'],
  'POST /consents/status/batch': ['read'],
  'POST /privacy-links': ['read', 'write', 'erase'],
  'DELETE /privacy-links/{id}': SCOPES,
  'POST /gdpr/forget-user': ['erase'],
  'DELETE /servers/{guild_id}': ['erase'],
  'POST /data/object': ['erase'],
  'DELETE /data/values/{user_id}': ['erase'],
};

/** @throws FakeRefusal 403 for a key without the scope of the route */
export function requireScope({ scopes }: FakeKey, route: string): void {
  const needed = NEEDED[route] ?? [route.startsWith('GET ') ? 'read' : 'write'];
  if (!needed.some((scope) => scopes.includes(scope))) throw lacking(needed[0]);
}
