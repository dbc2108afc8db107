import { Injectable } from '@nestjs/common';
import { areCountsExact } from '@app/audit';
import { botPages, isDeleted } from '@app/bots';
import { Signer } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { type BatchRow, batchesAfter, type Head, headOf } from './audit-batches';
import { CHECKPOINT_TYPE, NO_CHAIN } from './audit-leaf';
import { PRUNING_TYPE } from './audit-pruning';
import { type BatchFault, type BatchPlace, faultsOf, type LogFault } from './batch-check';
import { checkpointJws } from './batch-sealer';
import { EventOpener, unlessErased } from './event-opener';
import { type Judged, RecordedErasures } from './recorded-erasures';

/** Events read beyond the size of a batch, so that added events are reported one by one. */
const ADDED_MAX = 100;
const BOTS_PAGE = 500;

type Report = (fault: LogFault) => void;
/** Called after every batch with the number of its events. */
type OnEvents = (count: number) => void;
type Found = Omit<LogFault, 'bot_id'>;

/** The state of the verification of one log. */
interface Walk {
  readonly botId: string;
  readonly tell: (found: Found) => void;
  readonly onEvents: OnEvents;
  /** Chain values of checkpoints kept elsewhere, by the number of their batch. */
  readonly kept: ReadonlyMap<number, string>;
  place: BatchPlace;
  pruned: number | undefined;
  batches: number;
  events: number;
  erased: number;
}

/** The extent of a verified log. */
export interface LogSummary {
  readonly batches: number;
  readonly events: number;
  readonly erased: number;
  /** Events that are not sealed yet. */
  readonly unsealed: number;
  readonly faults: number;
}

/** Lower than the place of any event, so that an event put before the first one is found. */
const BEGINNING: BatchPlace = { number: 0, last_seq: Number.MIN_SAFE_INTEGER, chain: NO_CHAIN };

/**
 * Verifies sealed logs and reports every row that was changed, removed, added or moved after it was sealed. An attacker
 * who writes into the database without the keys is found, except one who removes the end of a log together with its
 * seals: only a checkpoint kept elsewhere shows that.
 */
@Injectable()
export class AuditVerifier {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly opener: EventOpener,
    private readonly signer: Signer,
    private readonly erasures: RecordedErasures,
  ) {}

  /** Verifies the log of every bot; yields the extent of each. One whose bot is deleted meanwhile, or before, is left out. */
  async *verifyAll(report: Report, onEvents?: OnEvents): AsyncGenerator<LogSummary & { bot_id: string }> {
    for await (const ids of botPages(this.unitOfWork, BOTS_PAGE))
      for (const id of ids) {
        const summary = await this.verify(id, report, [], onEvents);
        if (summary !== undefined) yield { bot_id: id, ...summary };
      }
  }

  /**
   * Verifies one log, while the service may write. `kept` are checkpoints of the log that were kept elsewhere; the log has
   * to contain each of them. Faults are reported at the end: undefined, and none is, where the bot is being deleted, which
   * destroys its keys and removes the rows of its log in parts.
   */
  async verify(
    botId: string,
    report: Report,
    kept: readonly string[] = [],
    onEvents: OnEvents = () => undefined,
  ): Promise<LogSummary | undefined> {
    const faults: Found[] = [];
    const tell = (found: Found): void => void faults.push(found);
    const chains = await this.chainsOf(botId, kept, tell);
    const from = { place: BEGINNING, pruned: undefined, batches: 0, events: 0, erased: 0 };
    const walk: Walk = { botId, tell, onEvents, kept: chains, ...from };
    while (await this.step(walk));
    const { batches, events, erased, place } = walk;
    for (const number of chains.keys())
      if (number > place.number) tell(ofBatch(number, 'a checkpoint was kept of it, and it is missing'));
    const counted = await this.unitOfWork.snapshot((tx) => areCountsExact(tx, botId, place.last_seq));
    if (!counted.isExact)
      tell({ fault: 'counts', message: 'the counts kept of the events are not those of the events' });
    if (await isDeleted(this.unitOfWork, botId)) return undefined;
    for (const found of faults) report({ bot_id: botId, ...found });
    return { batches, events, erased, unsealed: counted.behind, faults: faults.length };
  }

  /** Verifies the next batch with all events between it and the one before; false at the end of the log. */
  private async step(walk: Walk): Promise<boolean> {
    const { botId, place } = walk;
    const { head, batch, judged } = await this.unitOfWork.read(async (tx) => {
      const head = await headOf(tx, botId);
      const [batch] = await batchesAfter(tx, botId, place.number, 1);
      const [last, limit] = [batch?.last_seq ?? place.last_seq, (batch?.events ?? 0) + ADDED_MAX];
      const events = await this.opener.read(tx, botId, place.last_seq, last, limit);
      return { head, batch, judged: await this.erasures.judge(tx, botId, events) };
    });
    const pruned = head?.pruned_number ?? 0;
    if (walk.pruned !== pruned) {
      // At the beginning, and again when batches were pruned during the verification.
      await this.begin(walk, head);
      walk.pruned = pruned;
      return true;
    }
    if (batch === undefined) {
      ofEnd(walk, head);
      return false;
    }
    const found = await unlessErased(() => faultsOf(this.opener.commitments, batch, judged.events, place));
    if (found !== undefined) await this.look(walk, batch, judged, found);
    return true;
  }

  private async look(walk: Walk, batch: BatchRow, judged: Judged, found: BatchFault[]): Promise<void> {
    const { number } = batch;
    const { events } = judged;
    for (const fault of [...found, ...ofErasures(judged)]) walk.tell({ batch: number, ...fault });
    if ((await this.signer.verified(checkpointJws(batch), CHECKPOINT_TYPE)) === undefined)
      walk.tell(ofBatch(number, 'its signature is not one of the service over it'));
    ofKept(walk, batch);
    walk.batches += 1;
    walk.events += events.length;
    walk.onEvents(events.length);
    walk.erased += events.filter(({ isErased }) => isErased).length;
    walk.place = batch;
  }

  /** Begins with the first event, or after the signed statement about pruned batches. */
  private async begin(walk: Walk, head: Head | undefined): Promise<void> {
    if (head === undefined || (head.pruned_number === 0 && head.pruning === null)) return;
    const { botId, tell } = walk;
    const statement = await this.signer.verified(head.pruning ?? '', PRUNING_TYPE);
    if (statement?.['bot_id'] !== botId || statement['number'] !== head.pruned_number) {
      tell({ fault: 'head', message: 'what was pruned is not under a signature of the service' });
      return;
    }
    const end = statement as unknown as BatchPlace;
    ofKept(walk, end);
    // What was verified before it was pruned is not verified again.
    if (walk.place.number < end.number) walk.place = end;
    const below = await this.unitOfWork.read((tx) =>
      this.opener.read(tx, botId, BEGINNING.last_seq, end.last_seq, ADDED_MAX),
    );
    for (const { seq } of below)
      tell({ seq, fault: 'event_added', message: 'it stands where everything was pruned' });
  }

  private async chainsOf(
    botId: string,
    kept: readonly string[],
    tell: (found: Found) => void,
  ): Promise<Map<number, string>> {
    const chains = new Map<number, string>();
    for (const jws of kept) {
      const payload = await this.signer.verified(jws, CHECKPOINT_TYPE);
      const [number, chain] = [Number(payload?.['number']), String(payload?.['chain'])];
      if (payload?.['bot_id'] !== botId)
        tell({ fault: 'head', message: 'a checkpoint that was given is not one of this log' });
      else if ((chains.get(number) ?? chain) !== chain)
        tell(ofBatch(number, 'two checkpoints of it that were kept contradict each other'));
      else chains.set(number, chain);
    }
    return chains;
  }
}

function ofErasures({ unrecorded, unlisted }: Judged): BatchFault[] {
  const unreadable = 'the key of its user is gone, and no erasure of the user is on record';
  const lacking =
    'the ledger of erasures lacks this erasure or has it otherwise: a restored backup would bring the user back. ' +
    'ledger:import adds it from an export';
  return [
    ...unrecorded.map(({ seq }) => ({ fault: 'event_unreadable' as const, seq, message: unreadable })),
    ...unlisted.map(({ seq }) => ({ fault: 'ledger' as const, seq, message: lacking })),
  ];
}

/** Compares a batch, or the pruned end, with the kept checkpoint of its number. */
function ofKept({ kept, tell }: Walk, { number, chain }: BatchPlace): void {
  if ((kept.get(number) ?? chain) !== chain)
    tell(ofBatch(number, 'it is not the one of the checkpoint that was kept'));
}

function ofBatch(batch: number, message: string): Found {
  return { batch, fault: 'batch', message };
}

/** The head of a log has to name its last batch. */
function ofEnd({ place, tell }: Walk, head: Head | undefined): void {
  const noted = head ?? BEGINNING;
  if (noted.number > place.number)
    tell({ fault: 'batch', message: `the batches behind ${place.number} are missing` });
  else if (noted.number < place.number || noted.last_seq !== place.last_seq || noted.chain !== place.chain)
    tell({ fault: 'head', message: 'what is noted of the last batch is not that batch' });
}
