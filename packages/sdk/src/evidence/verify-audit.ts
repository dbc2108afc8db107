import type { KeySet } from '../key-set';
import { type AuditEventEvidence, leafOf, rootOf } from './audit-hashes';
import { type AuditProof, checkAuditProof, checkCheckpoint } from './audit-proof.check';
import { base64url, type Bytes } from './base64url';
import { inNode } from './in-node';
import type { Payload } from './statement.check';
import { VerificationError } from './verification-error';
import { verifyStatement } from './verify-statement';

export type { AuditProof } from './audit-proof.check';

const PRUNING = 'lethe-audit-pruning+jwt';
const EXPORT = 'lethe-audit-export+jwt';
/** The chain value before the first batch of a log. */
const NO_CHAIN = base64url(new Uint8Array(32));

export interface VerifiedLog {
  readonly botId: string;
  readonly batches: number;
  readonly events: number;
  readonly erased: number;
  /** The last checkpoint. Keep it and pass it to the next verification. */
  readonly checkpoint: Payload | undefined;
}

/**
 * Verifies that an event is in the log as it was sealed. Returns the checkpoint of its batch.
 * @throws VerificationError when the proof is wrong.
 */
export function verifyAuditProof(proof: AuditProof, keySet: KeySet): Payload {
  return inNode(checkAuditProof(proof, keySet));
}

/**
 * Verifies that an export of a log (`GET /audit/export`, line by line) is complete and unchanged. `kept` holds earlier
 * checkpoints: the log must contain each of them that falls into the export.
 * @throws VerificationError with the line.
 */
export async function verifyAuditExport(
  lines: AsyncIterable<string> | Iterable<string>,
  keySet: KeySet,
  kept: readonly string[] = [],
): Promise<VerifiedLog> {
  const log = new LogWalk(keySet, kept);
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    try {
      log.take(JSON.parse(text) as Line);
    } catch (error) {
      const message =
        error instanceof VerificationError ? error.message : 'this is not a line of an audit export';
      throw new VerificationError(message, number);
    }
  }
  return log.end();
}

type Line = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Reads one export line by line. A line that does not follow from the lines before it is refused. */
class LogWalk {
  private botId: string | undefined;
  private after = 0;
  private number = 0;
  private chain: string | undefined;
  private lastSeq = -Infinity;
  private checkpoint: Payload | undefined;
  private pending: Bytes[] = [];
  private seqs: number[] = [];
  private statement: Payload | undefined;
  private events = 0;
  private erased = 0;
  private readonly kept = new Map<number, unknown>();
  private readonly keptOf = new Set<unknown>();

  constructor(
    private readonly keySet: KeySet,
    kept: readonly string[],
  ) {
    for (const jws of kept) {
      const { bot_id: botId, number, chain } = verifyCheckpoint(jws, keySet);
      this.compare(Number(number), chain);
      this.kept.set(Number(number), chain);
      this.keptOf.add(botId);
    }
    if (this.keptOf.size > 1)
      throw new VerificationError('the checkpoints that were kept are of several bots');
  }

  take(line: Line): void {
    if (this.statement !== undefined) throw new VerificationError('something follows the end of the export');
    if ((line.type === 'log') !== (this.botId === undefined))
      throw new VerificationError('an export has one first line, which names the bot');
    if (line.type === 'log') this.begin(line);
    else if (line.type === 'event') this.event(line as unknown as AuditEventEvidence);
    else if (line.type === 'batch') this.batch(verifyCheckpoint(String(line['checkpoint']), this.keySet));
    else if (line.type === 'end') this.close(verifyStatement(String(line['statement']), this.keySet, EXPORT));
    else throw new VerificationError('this is not a line of an audit export');
  }

  end(): VerifiedLog {
    const { botId, events, erased, checkpoint } = this;
    if (this.statement === undefined || botId === undefined)
      throw new VerificationError('the export was cut: its last line is missing');
    return { botId, batches: this.number - this.after, events, erased, checkpoint };
  }

  private begin({ bot_id: botId, after, pruning }: Line): void {
    this.botId = String(botId);
    this.after = this.number = Number(after);
    if (this.number === 0) this.chain = NO_CHAIN;
    if (this.keptOf.size > 0 && !this.keptOf.has(botId))
      throw new VerificationError('the checkpoint that was kept is of another bot');
    if (typeof pruning === 'string') this.prune(pruning);
    // The first batch must follow from the kept checkpoint of the batch before it.
    this.chain ??= this.kept.get(this.number) as string | undefined;
  }

  private prune(pruning: string): void {
    const pruned = verifyStatement(pruning, this.keySet, PRUNING);
    if (pruned['bot_id'] !== this.botId || Number(pruned['number']) > this.number)
      throw new VerificationError('what was pruned does not lead to this log');
    this.compare(Number(pruned['number']), pruned['chain']);
    if (pruned['number'] !== this.number) return;
    this.chain = String(pruned['chain']);
    this.lastSeq = Number(pruned['last_seq']);
  }

  private event(event: AuditEventEvidence): void {
    this.pending.push(inNode(leafOf(this.botId ?? '', event)));
    this.seqs.push(event.seq);
    this.events += 1;
    if (event.erased) this.erased += 1;
  }

  private batch(checkpoint: Payload): void {
    const {
      bot_id: botId,
      number,
      previous,
      chain,
      events,
      root,
      first_seq: first,
      last_seq: last,
    } = checkpoint;
    if (botId !== this.botId) throw new VerificationError('the batch is of another bot');
    if (number !== this.number + 1)
      throw new VerificationError(`the batch before ${String(number)} is missing`);
    // In an export that begins inside the log, only the signature vouches for the earlier part.
    if (previous !== (this.chain ?? previous))
      throw new VerificationError('the batch does not follow from the one before');
    if (events !== this.pending.length)
      throw new VerificationError(`the batch has ${String(events)} events, not ${this.pending.length}`);
    const isInOrder = this.seqs.every(
      (seq, at) => seq > (at === 0 ? this.lastSeq : (this.seqs[at - 1] ?? 0)),
    );
    if (!isInOrder || this.seqs[0] !== first || this.seqs.at(-1) !== last)
      throw new VerificationError('the events of the batch are not in their order');
    if (base64url(inNode(rootOf(this.pending))) !== root)
      throw new VerificationError('an event of the batch was changed, exchanged or moved');
    this.compare(Number(number), chain);
    Object.assign(this, { number, chain, lastSeq: last, checkpoint, pending: [], seqs: [] });
  }

  private close(statement: Payload): void {
    const { bot_id: botId, number, chain, after, events } = statement;
    if (this.pending.length > 0) throw new VerificationError('events follow the last batch');
    const isWhole =
      botId === this.botId &&
      after === this.after &&
      events === this.events &&
      (Number(number) < this.after || (number === this.number && chain === (this.chain ?? chain)));
    if (!isWhole) throw new VerificationError('the export is not the one that was signed: lines are missing');
    this.compare(Number(number), chain);
    const beyond = [...this.kept.keys()].find((kept) => kept > Number(number));
    if (beyond !== undefined)
      throw new VerificationError(`batch ${beyond}, whose checkpoint was kept, is missing from the log`);
    this.statement = statement;
  }

  /** Each batch number has one chain value: the one in the export must equal the kept one. */
  private compare(number: number, chain: unknown): void {
    const known = this.kept.get(number);
    if (known !== undefined && known !== chain)
      throw new VerificationError(`batch ${number} is not the one of the checkpoint that was kept`);
  }
}

function verifyCheckpoint(jws: string, keySet: KeySet): Payload {
  return inNode(checkCheckpoint(jws, keySet));
}
