import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Signer } from '@app/crypto';
import { ConcurrentChange, type Tx, UnitOfWork } from '@app/database';
import { LineStream } from '@app/http';
import { Clock, OwnError } from '@app/kernel';
import { type BatchRow, batchesAfter, type Head, headOf } from './audit-batches';
import { disclosed } from './audit-disclosure';
import { NO_CHAIN } from './audit-leaf';
import { type Entry, unpacked } from './batch-entries';
import { BatchSealer, checkpointJws } from './batch-sealer';
import type { OpenEvent } from './event-commitments';
import { EventOpener } from './event-opener';

export const EXPORT_TYPE = 'lethe-audit-export+jwt';

/** Lines that are made at a stretch: requests are answered in between. */
const STRETCH = 50;

interface Part {
  readonly batch: BatchRow;
  readonly events: readonly OpenEvent[];
  readonly entries: readonly Entry[];
}

/**
 * The sealed log of a bot, one JSON value a line, with all that is needed to verify it away from the service. A batch at
 * a time is in memory, read as it is then: what is erased meanwhile is told no more.
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

  /** Behind the batch `after`, or from its beginning, up to what is sealed now. */
  export(botId: string, after: number): LineStream {
    return new LineStream((write) => this.writeTo(botId, after, write));
  }

  private async writeTo(
    botId: string,
    asked: number,
    write: (lines: string) => Promise<void>,
  ): Promise<void> {
    await this.sealer.sealNow(botId);
    const head = await this.unitOfWork.read((tx) => headOf(tx, botId));
    const exportedAt = this.clock.nowIso();
    const after = Math.max(asked, head?.pruned_number ?? 0);
    await write(
      line({
        ...{
          type: 'log',
          format: 'lethe-audit-log',
          version: 1,
          bot_id: botId,
          exported_at: exportedAt,
          after,
        },
        pruning: head?.pruning ?? null,
      }),
    );
    let [number, events] = [after, 0];
    for (; number < (head?.number ?? 0); number++) {
      events += await this.writeBatch(botId, number, write);
    }
    await write(
      line({ type: 'end', statement: await this.statement(botId, head, { after, exportedAt, events }) }),
    );
  }

  /** Answers how many events there were in the batch behind `after`. */
  private async writeBatch(
    botId: string,
    after: number,
    write: (lines: string) => Promise<void>,
  ): Promise<number> {
    const read = (): Promise<Part> => this.unitOfWork.read((tx) => this.part(tx, botId, after));
    let part = await read();
    for (let at = 0; at < part.events.length;) {
      const lines = this.lines(part, at);
      if (lines === undefined) {
        part = await read();
      } else {
        await write(lines);
        await nextTurn();
        at += STRETCH;
      }
    }
    await write(line({ type: 'batch', checkpoint: checkpointJws(part.batch) }));
    return part.events.length;
  }

  private async part(tx: Tx, botId: string, after: number): Promise<Part> {
    const [batch] = await batchesAfter(tx, botId, after, 1);
    // It was pruned meanwhile.
    if (batch?.number !== after + 1) throw new OwnError('A batch of the audit log is missing');
    const { first_seq: first, last_seq: last } = batch;
    const events = await this.opener.read(tx, botId, first - 1, last, batch.events + 1);
    return { batch, events, entries: unpacked(batch.entries) ?? [] };
  }

  /** A stretch of events; undefined where a key was destroyed since they were read: they are erased by then. */
  private lines({ events, entries }: Part, from: number): string | undefined {
    try {
      return events
        .slice(from, Math.min(from + STRETCH, entries.length))
        .map((event, at) => this.lineOf(event, entries[from + at]))
        .join('');
    } catch (error) {
      if (error instanceof ConcurrentChange) return undefined;
      throw error;
    }
  }

  private lineOf(event: OpenEvent, entry: Entry | undefined): string {
    if (entry === undefined) return '';
    return line({
      type: 'event',
      ...disclosed(event, entry, this.opener.commitments.salts(event, entry.saltedBy)),
    });
  }

  /** How far the log went when it was exported: a file that was cut says so. */
  private statement(
    botId: string,
    head: Head | undefined,
    { after, exportedAt, events }: { after: number; exportedAt: string; events: number },
  ): Promise<string> {
    const [number, chain] = [head?.number ?? 0, head?.chain ?? NO_CHAIN];
    const payload = { bot_id: botId, exported_at: exportedAt, after, number, chain, events };
    return this.signer.sign(payload, EXPORT_TYPE);
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
