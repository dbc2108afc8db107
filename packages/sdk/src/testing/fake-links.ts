import type { Tools } from './fake-bot';
import type { Json } from './fake-consent';
import { idOf, type Ids } from './fake-ids';
import { invalid } from './fake-refusal';

/** Links to privacy pages. The fake answers them and ends them; it serves no page. */
export class FakeLinks {
  private readonly links = new Map<string, { readonly user_id: string; readonly guild_id?: string }>();

  constructor(private readonly tools: Pick<Tools, 'newId' | 'nowIso'>) {}

  create({ guild_id, scope, expires_in, ...given }: Json): Json {
    const user_id = idOf(given, 'user_id');
    if (scope != null && guild_id !== undefined) throw invalid('guild_id', 'must be left out with scope');
    const seconds = Number(expires_in ?? 900);
    if (!(seconds >= 60 && seconds <= 604_800)) throw invalid('expires_in', 'must be from 60 to 604800');
    const id = this.tools.newId();
    this.links.set(id, scope == null ? { user_id, guild_id: idOf({ guild_id }, 'guild_id') } : { user_id });
    const expires_at = new Date(Date.parse(this.tools.nowIso()) + seconds * 1000).toISOString();
    return { id, url: `http://lethe.test/p/${this.tools.newId()}`, expires_at };
  }

  /** Undefined for a link that is not in force. */
  remove({ id }: Json): Json | undefined {
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
