import type { KeySet } from '../key-set';
import { type AuditEventEvidence, leafOf, rootOf } from './audit-hashes';
import { checkCheckpoint } from './audit-proof.check';
import { base64url, type Bytes } from './base64url';
import type { Check } from './check';
import { checkStatement, type Payload } from './statement.check';
import { VerificationError } from './verification-error';

const PRUNING = 'lethe-audit-pruning+jwt';
const EXPORT = 'lethe-audit-export+jwt';
/** The chain value before the first batch of a log. */
const NO_CHAIN = base64url(new Uint8Array(32));

export interface VerifiedLog {
  readonly botId: string;
  /** The number of the batch behind which the export begins; 0 for the first event of the log. */
  readonly after: number;
  /** Whether the export begins where the log does, or where a signed pruning ended. Else the events before it are not proved. */
  readonly isWhole: boolean;
  readonly batches: number;
  readonly events: number;
  readonly erased: number;
  /** The last checkpoint. Keep it and pass it to the next verification. */
  readonly checkpoint: Payload | undefined;
}

/** A batch of a log whose events are those that its checkpoint has signed. */
export interface VerifiedBatch {
  readonly checkpoint: Payload;
  readonly sealed: readonly AuditEventEvidence[];
}

type Line = Readonly<Record<string, unknown>> & { readonly type?: string };

/**
 * Reads one export line by line. A line that does not follow from the lines before it is refused.
 * @internal
 */
export class LogWalk {
  private botId: string | undefined;
  private after = 0;
  private isWhole = false;
  private number = 0;
  private chain: string | undefined;
  private lastSeq = -Infinity;
  private checkpoint: Payload | undefined;
  private pending: AuditEventEvidence[] = [];
  private leaves: Bytes[] = [];
  private statement: Payload | undefined;
  private events = 0;
  private erased = 0;
  private readonly kept = new Map<number, unknown>();
  private readonly keptOf = new Set<unknown>();

  constructor(private readonly keySet: KeySet) {}

  /** Earlier checkpoints, before the first line: the log must contain each of them that falls into the export. */
  *keep(kept: readonly string[]): Check<void> {
    for (const jws of kept) {
      const { bot_id: botId, number, chain } = yield* checkCheckpoint(jws, this.keySet);
      this.compare(Number(number), chain);
      this.kept.set(Number(number), chain);
      this.keptOf.add(botId);
    }
    if (this.keptOf.size > 1)
      throw new VerificationError('the checkpoints that were kept are of several bots');
  }

  /** The batch that a text of the export ends; undefined for another one. @throws VerificationError with its `number` */
  *line(text: string, number: number): Check<VerifiedBatch | undefined> {
    if (text.trim() === '') return undefined;
    try {
      return yield* this.take(JSON.parse(text) as Line);
    } catch (error) {
      const message =
        error instanceof VerificationError ? error.message : 'this is not a line of an audit export';
      throw new VerificationError(message, number);
    }
  }

  private *take(line: Line): Check<VerifiedBatch | undefined> {
    if (this.statement !== undefined) throw new VerificationError('something follows the end of the export');
    if ((line.type === 'log') !== (this.botId === undefined))
      throw new VerificationError('an export has one first line, which names the bot');
    if (line.type === 'log') yield* this.begin(line);
    else if (line.type === 'event') yield* this.event(line as unknown as AuditEventEvidence);
    else if (line.type === 'batch')
      return yield* this.batch(yield* checkCheckpoint(line['checkpoint'], this.keySet));
    else if (line.type === 'end') this.close(yield* checkStatement(line['statement'], this.keySet, EXPORT));
    else throw new VerificationError('this is not a line of an audit export');
    return undefined;
  }

  end(): VerifiedLog {
    const { botId, after, isWhole, events, erased, checkpoint } = this;
    if (this.statement === undefined || botId === undefined)
      throw new VerificationError('the export was cut: its last line is missing');
    return { botId, after, isWhole, batches: this.number - after, events, erased, checkpoint };
  }

  private *begin({ bot_id: botId, after, pruning }: Line): Check<void> {
    if (typeof botId !== 'string' || typeof after !== 'number')
      throw new VerificationError('this is not a line of an audit export');
    this.botId = botId;
    this.after = this.number = after;
    this.isWhole = after === 0;
    if (this.isWhole) this.chain = NO_CHAIN;
    if (this.keptOf.size > 0 && !this.keptOf.has(botId))
      throw new VerificationError('the checkpoint that was kept is of another bot');
    if (pruning !== null) yield* this.prune(pruning);
    // The first batch must follow from the kept checkpoint of the batch before it.
    this.chain ??= this.kept.get(this.number) as string | undefined;
  }

  private *prune(pruning: unknown): Check<void> {
    const pruned = yield* checkStatement(pruning, this.keySet, PRUNING);
    if (pruned['bot_id'] !== this.botId || Number(pruned['number']) > this.number)
      throw new VerificationError('what was pruned does not lead to this log');
    this.compare(Number(pruned['number']), pruned['chain']);
    if (pruned['number'] !== this.number) return;
    this.isWhole = true;
    this.chain = String(pruned['chain']);
    this.lastSeq = Number(pruned['last_seq']);
  }

  private *event(event: AuditEventEvidence): Check<void> {
    this.leaves.push(yield* leafOf(this.botId ?? '', event));
    this.pending.push(event);
    this.events += 1;
    if (event.erased) this.erased += 1;
  }

  private *batch(checkpoint: Payload): Check<VerifiedBatch> {
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
    const seqs = this.pending.map(({ seq }) => seq);
    const isInOrder = seqs.every((seq, at) => seq > (at === 0 ? this.lastSeq : (seqs[at - 1] ?? 0)));
    if (!isInOrder || seqs[0] !== first || seqs.at(-1) !== last)
      throw new VerificationError('the events of the batch are not in their order');
    if (base64url(yield* rootOf(this.leaves)) !== root)
      throw new VerificationError('an event of the batch was changed, exchanged or moved');
    this.compare(Number(number), chain);
    const batch = { checkpoint, sealed: this.pending };
    Object.assign(this, { number, chain, lastSeq: last, checkpoint, pending: [], leaves: [] });
    return batch;
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
