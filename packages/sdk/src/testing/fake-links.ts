import type { Tools } from './fake-bot';
import type { Json } from './fake-consent';
import { idOf, type Ids } from './fake-ids';
import { type FakeKey, lacking, type Scope } from './fake-keys';
import { invalid } from './fake-refusal';

/** The scope that a key needs for what a link allows. */
const SCOPE_OF: Readonly<Record<string, Scope>> = {
  view: 'read',
  consent: 'write',
  export: 'read',
  forget: 'erase',
  correct: 'write',
};

interface Link {
  readonly user_id: string;
  /** Undefined for all guilds. */
  readonly guild_id?: string;
  readonly key: FakeKey;
}

/** Links to privacy pages. The fake answers them and ends them; it serves no page. */
export class FakeLinks {
  private readonly links = new Map<string, Link>();

  constructor(private readonly tools: Pick<Tools, 'newId' | 'nowIso'>) {}

  create({ guild_id, scope, expires_in, allow, ...given }: Json, key: FakeKey): Json {
    const user_id = idOf(given, 'user_id');
    if (scope !== undefined && scope !== 'all_guilds') throw invalid('scope', 'must be all_guilds');
    if (scope !== undefined && guild_id !== undefined)
      throw invalid('guild_id', 'must be left out with scope');
    const seconds = expires_in ?? 900;
    if (!isSeconds(seconds)) throw invalid('expires_in', 'must be from 60 to 604800');
    requireActs(allow, key);
    const id = this.tools.newId();
    const guild = scope === undefined ? { guild_id: idOf({ guild_id }, 'guild_id') } : {};
    this.links.set(id, { user_id, ...guild, key });
    const expires_at = new Date(Date.parse(this.tools.nowIso()) + seconds * 1000).toISOString();
    return { id, url: `http://lethe.test/p/${this.tools.newId()}`, expires_at };
  }

  /** Undefined for a link that is not in force. @throws FakeRefusal 403 for that of another key, without `admin` */
  remove({ id }: Json, key: FakeKey): Json | undefined {
    const link = this.links.get(String(id));
    if (link !== undefined && link.key !== key && !key.scopes.includes('admin')) throw lacking('admin');
    return this.links.delete(String(id)) ? { id, deleted: true } : undefined;
  }

  /** Ends the links of an erased user; one for all guilds only where nothing is held elsewhere. */
  erase({ user_id, guild_id }: Ids, isHeldElsewhere: boolean): void {
    for (const [id, of] of this.links) {
      const isOver = of.guild_id === undefined ? !isHeldElsewhere : of.guild_id === guild_id;
      if (of.user_id === user_id && isOver) this.links.delete(id);
    }
  }
}

const isSeconds = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 60 && Number(value) <= 604_800;

/** Without a list a link offers what its key may do. @throws FakeRefusal 400, and 403 for what the key may not do */
function requireActs(allow: unknown, { scopes }: FakeKey): void {
  if (allow === undefined) return;
  const isList = Array.isArray(allow) && allow.length > 0 && new Set(allow).size === allow.length;
  if (!isList || !allow.every((act) => typeof act === 'string' && Object.hasOwn(SCOPE_OF, act)))
    throw invalid(
      'allow',
      `must be a list of at least one of ${Object.keys(SCOPE_OF).join(', ')}, each once`,
    );
  const needed = allow.map((act) => SCOPE_OF[String(act)]);
  const missing = needed.find((scope) => scope !== undefined && !scopes.includes(scope));
  if (missing !== undefined) throw lacking(missing);
}
