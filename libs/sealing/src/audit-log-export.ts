import { Injectable } from '@nestjs/common';
import { Signer } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { AnswerStream, NDJSON } from '@app/http';
import { Clock, OwnError } from '@app/kernel';
import { type BatchRow, batchesAfter, headOf } from './audit-batches';
import { NO_CHAIN } from './audit-leaf';
import { notSettled } from './audit-proofs.service';
import { BatchSealer, checkpointJws } from './batch-sealer';
import { EventOpener, type SealedEvents, unlessErased } from './event-opener';

const EXPORT_TYPE = 'lethe-audit-export+jwt';

/** Lines made at once. Other requests have a turn during each write. */
const STRETCH = 50;

type Write = (lines: string) => Promise<void>;

/**
 * The sealed log of a bot, one JSON value a line, with all that verifies it without the service. One batch at a time is
 * read and held in memory, so that what is erased during the export is left out.
 */
@Injectable()
export class AuditLogExport {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly opener: EventOpener,
    private readonly sealer: BatchSealer,
    private readonly signer: Signer,
    private readonly clock: Clock,
  ) {}

  /**
   * The batches after the number `after`, up to the last event at the time of the call.
   * @throws ApiError 503 while older units keep events from being sealed: the end must not sign a part as the whole.
   */
  export(botId: string, after: number): AnswerStream {
    return new AnswerStream((write) => this.writeTo(botId, after, write), NDJSON);
  }

  private async writeTo(botId: string, asked: number, write: Write): Promise<void> {
    if (!(await this.sealer.sealNow(botId))) throw notSettled();
    const head = await this.unitOfWork.read((tx) => headOf(tx, botId));
    const exported_at = this.clock.nowIso();
    const after = Math.max(asked, head?.pruned_number ?? 0);
    const log = { type: 'log', format: 'lethe-audit-log', version: 1, bot_id: botId, exported_at, after };
    await write(line({ ...log, pruning: head?.pruning ?? null }));
    let [number, events] = [after, 0];
    for (; number < (head?.number ?? 0); number++) {
      events += await this.writeBatch(botId, number, write);
    }
    // The signed end, by which a file that was cut is found.
    const end = {
      bot_id: botId,
      exported_at,
      after,
      number: head?.number ?? 0,
      chain: head?.chain ?? NO_CHAIN,
    };
    await write(line({ type: 'end', statement: await this.signer.sign({ ...end, events }, EXPORT_TYPE) }));
  }

  /** Writes the batch that follows `after`; returns its number of events. */
  private async writeBatch(botId: string, after: number, write: Write): Promise<number> {
    const read = (): Promise<SealedEvents & { batch: BatchRow }> =>
      this.unitOfWork.read((tx) => this.batchAfter(tx, botId, after));
    let found = await read();
    for (let at = 0; at < found.events.length;) {
      const lines = await unlessErased(() => this.lines(found, at));
      if (lines === undefined) {
        found = await read();
      } else {
        await write(lines);
        at += STRETCH;
      }
    }
    await write(line({ type: 'batch', checkpoint: checkpointJws(found.batch) }));
    return found.events.length;
  }

  private async batchAfter(
    tx: Tx,
    botId: string,
    after: number,
  ): Promise<SealedEvents & { batch: BatchRow }> {
    const [batch] = await batchesAfter(tx, botId, after, 1);
    // It was pruned meanwhile.
    if (batch?.number !== after + 1) throw new OwnError('A batch of the audit log is missing');
    return { batch, ...(await this.opener.sealed(tx, batch)) };
  }

  private lines({ events, entries }: SealedEvents, from: number): string {
    const some = entries.slice(from, from + STRETCH).flatMap((entry, at) => {
      const event = events[from + at];
      return event === undefined ? [] : [line({ type: 'event', ...this.opener.disclosed(event, entry) })];
    });
    return some.join('');
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
