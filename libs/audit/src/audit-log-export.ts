import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock, LineStream } from '@app/common';
import { Signer } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { type BatchRow, batchesAfter, type Head, headOf } from './audit-batches';
import { disclosed } from './audit-disclosure';
import { NO_CHAIN } from './audit-leaf';
import { AuditSealer, checkpointJws } from './audit-sealer';
import { unpacked } from './batch-entries';
import { EventOpener, type OpenEvent } from './event-opener';

export const EXPORT_TYPE = 'lethe-audit-export+jwt';

/** Lines that are made at a stretch: requests are answered in between. */
const STRETCH = 50;

interface Part {
  readonly batch: BatchRow;
  readonly events: readonly OpenEvent[];
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
    private readonly sealer: AuditSealer,
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
      const part = await this.unitOfWork.read((tx) => this.part(tx, botId, number));
      // It was pruned meanwhile.
      if (part === undefined) throw new Error('A batch of the audit log is missing');
      for await (const lines of this.lines(part)) await write(lines);
      events += part.events.length;
    }
    await write(
      line({ type: 'end', statement: await this.statement(botId, head, { after, exportedAt, events }) }),
    );
  }

  private async part(tx: Tx, botId: string, after: number): Promise<Part | undefined> {
    const [batch] = await batchesAfter(tx, botId, after, 1);
    if (batch?.number !== after + 1) return undefined;
    const { first_seq: first, last_seq: last } = batch;
    return { batch, events: await this.opener.read(tx, botId, first - 1, last, batch.events + 1) };
  }

  private async *lines({ batch, events }: Part): AsyncGenerator<string> {
    const entries = unpacked(batch.entries) ?? [];
    let text = '';
    for (const [at, event] of events.entries()) {
      const entry = entries[at];
      if (entry === undefined) break;
      const salts = this.opener.salts(event, entry.saltedBy);
      text += line({ type: 'event', ...disclosed(event, entry, salts) });
      if (at % STRETCH === STRETCH - 1) {
        yield text;
        text = '';
        await nextTurn();
      }
    }
    yield text + line({ type: 'batch', checkpoint: checkpointJws(batch) });
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
