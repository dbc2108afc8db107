import { createHash } from 'node:crypto';
import type { AuditEventEvidence, AuditPart, AuditProof } from '@lethe/sdk/evidence';
import { chainOf } from '@lethe/sdk/evidence';
import { leafOf, rootOf } from '@lethe/sdk/evidence/audit-hashes';
import { inNode } from '@lethe/sdk/evidence/in-node';
import type { SigningService } from './final-certificates';

const SALT = Buffer.alloc(21, 7).toString('base64url');
const NO_CHAIN = Buffer.alloc(32).toString('base64url');
const SEALED_AT = '2026-11-20T16:00:00.000Z';

/** What an event is about and says; `details` are those of the service. */
export interface Told {
  readonly type: string;
  readonly source?: string;
  readonly user?: string;
  readonly guild?: string;
  readonly details?: object | null;
  /** As the service shows it of an erased user, without parts. */
  readonly erased?: boolean;
}

/** docs/audit-log.md: each part after its length. */
function hashed(first: number, ...parts: readonly Buffer[]): Buffer {
  const digest = createHash('sha256').update(Buffer.of(first));
  for (const part of parts) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    digest.update(length).update(part);
  }
  return digest.digest();
}

/** The sealed log of the bot of a signing service, as far as a verifier sees it. */
export class SignedLog {
  private readonly botId: string;

  constructor(private readonly signing: SigningService) {
    this.botId = signing.subject.botId;
  }

  event({ type, source = 'service', erased = false, ...told }: Told, seq = 1): AuditEventEvidence {
    const { user = '1'.repeat(18), guild = '2'.repeat(18), details = null } = told;
    const values = { user, guild, details: details && JSON.stringify(details) };
    const hashes = Object.entries(values).map(([name, value]) =>
      hashed(
        3,
        ...[Buffer.from(name), Buffer.from(SALT, 'base64url')],
        ...(value === null ? [] : [Buffer.from(value)]),
      ),
    );
    const commitment = createHash('sha256')
      .update(Buffer.of(4))
      .update(Buffer.concat(hashes))
      .digest('base64url');
    const parts = Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, AuditPart] => [name, { value, salt: SALT }]),
    );
    return {
      ...{ seq, id: `event-${seq}`, event_type: type, source, created_at: '2026-11-20T15:39:19.000Z' },
      ...{ commitment, erased, parts: erased ? null : parts },
    };
  }

  /** The proof of an event that is the only one of its batch. */
  proof(told: Told): AuditProof {
    const event = this.event(told);
    return {
      bot_id: this.botId,
      event,
      leaf_index: 0,
      path: [],
      checkpoint: this.batch([event], 1, NO_CHAIN).jws,
    };
  }

  /** The lines of an export behind a batch; of a log whose batches up to `pruned` were removed. */
  exported(events: readonly Told[], after = 0, pruned?: number): string {
    const before = after === 0 ? NO_CHAIN : Buffer.alloc(32, after).toString('base64url');
    const own = events.map((told, at) => this.event(told, after * 10 + at + 1));
    const batch = own.length === 0 ? undefined : this.batch(own, after + 1, before);
    const of = { bot_id: this.botId };
    const pruning = { ...of, number: pruned, last_seq: after * 10, chain: before, pruned_at: SEALED_AT };
    const end = {
      ...{ ...of, after, events: own.length, exported_at: SEALED_AT },
      ...{ number: batch === undefined ? after : after + 1, chain: batch?.chain ?? before },
    };
    return [
      {
        type: 'log',
        ...of,
        after,
        pruning: pruned === undefined ? null : this.signing.signs(pruning, 'pruning'),
      },
      ...own.map((event) => ({ type: 'event', ...event })),
      ...(batch === undefined ? [] : [{ type: 'batch', checkpoint: batch.jws }]),
      { type: 'end', statement: this.signing.signs(end, 'export') },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n');
  }

  private batch(
    events: readonly AuditEventEvidence[],
    number: number,
    previous: string,
  ): { readonly jws: string; readonly chain: string } {
    const leaves = events.map((event) => inNode(leafOf(this.botId, event)));
    const fields = {
      ...{ bot_id: this.botId, number, first_seq: events[0]?.seq, last_seq: events.at(-1)?.seq },
      ...{ events: events.length, root: Buffer.from(inNode(rootOf(leaves))).toString('base64url') },
      ...{ identities: NO_CHAIN, previous, sealed_at: SEALED_AT },
    };
    const chain = chainOf(fields);
    return { jws: this.signing.signs({ ...fields, chain }, 'checkpoint'), chain };
  }
}
