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

/** Lines made at once; requests are answered in between. */
const STRETCH = 50;

interface Part {
  readonly batch: BatchRow;
  readonly events: readonly OpenEvent[];
  readonly entries: readonly Entry[];
}

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

  /** The batches after the number `after`, up to the last event at the time of the call. */
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

  /** Writes the batch that follows `after`; answers its number of events. */
  private async writeBatch(
    botId: string,
    after: number,
    write: (lines: string) => Promise<void>,
  ): Promise<number> {
    const read = (): Promise<Part> => this.unitOfWork.readAnywhere((tx) => this.part(tx, botId, after));
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

  /** The lines of some events; undefined when a key was destroyed after they were read. */
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

  /** Signs the end of the export, so that a file that was cut is found. */
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
