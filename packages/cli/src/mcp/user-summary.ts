import {
  ConsentRequiredError,
  type Lethe,
  LetheError,
  ProcessingRefusedError,
  type Schemas,
} from '@lethe/sdk';

/** What is held about a user in one guild, without a value. */
export interface Summary extends Readonly<Schemas['ListedUserView']> {
  readonly stored: readonly {
    readonly category: string;
    readonly fields: number;
    /** Of its values as JSON. */
    readonly bytes: number;
    readonly updated_at: string | null;
  }[];
  readonly objections: readonly object[];
  readonly restrictions: readonly object[];
  /** Why `stored` may leave something out; null where it does not. */
  readonly left_out: string | null;
}

interface Where {
  readonly user_id: string;
  readonly guild_id?: string;
}

/** Guilds in one page: each is asked for with two further calls. */
const GUILDS_MAX = 10;

/**
 * One page of {@link Summary}. The values pass through this process and are not answered. The service writes no audit event for
 * these reads; an export would be recorded as one.
 */
export async function summaryOf(
  lethe: Lethe,
  { user_id, guild_id }: Where,
  after: string | undefined,
  signal: AbortSignal,
): Promise<{ guilds: Summary[]; next: string | null }> {
  const filter = { user_id, ...(guild_id !== undefined && { guild_id }) };
  const page = await lethe.users.list(filter, { signal }).page(after, GUILDS_MAX);
  const guilds: Summary[] = [];
  for (const state of page.items) {
    const who = { user_id, guild_id: state.guild_id };
    const { objections, restrictions } = await lethe.data.refusals(who, { signal });
    const { stored, leftOut } = await storedAbout(lethe, who, signal);
    const restricted =
      restrictions.length === 0 ? null : 'What the user has restricted is stored and cannot be read.';
    guilds.push({ ...state, stored, objections, restrictions, left_out: leftOut ?? restricted });
  }
  return { guilds, next: page.next };
}

async function storedAbout(
  lethe: Lethe,
  who: { user_id: string; guild_id: string },
  signal: AbortSignal,
): Promise<{ stored: Summary['stored']; leftOut: string | null }> {
  try {
    const { values, updated_at: times } = await lethe.data.values(who, { signal });
    const stored = Object.entries(values as Record<string, object>).map(([category, data]) => ({
      category,
      fields: Object.keys(data).length,
      bytes: Buffer.byteLength(JSON.stringify(data)),
      updated_at: (times as Record<string, string | undefined>)[category] ?? null,
    }));
    return { stored, leftOut: null };
  } catch (error) {
    if (!(error instanceof ConsentRequiredError || error instanceof ProcessingRefusedError)) throw error;
    return { stored: [], leftOut: `Nothing can be read: ${(error as LetheError).message}` };
  }
}
