import { Inject, Injectable } from '@nestjs/common';
import { ErasureLedger } from '@app/erasure';
import { LineStream } from '@app/http';
import { Clock, CONFIG, type Config, describeFault, LOGGER } from '@app/kernel';
import { recordBackup } from '@app/operations';
import type { Logger } from 'pino';

/** Lines of one piece. */
const LINES = 200;

/** The ledger of all erasures as a file, the same that `ledger:export` writes. No unit is open while its reader waits. */
@Injectable()
export class LedgerDownload {
  constructor(
    private readonly ledger: ErasureLedger,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  stream(): LineStream {
    const madeAt = this.clock.nowIso();
    const writeTo: LineStream['writeTo'] = async (write) => {
      let piece: string[] = [];
      for await (const line of this.ledger.lines()) {
        if (piece.push(`${line}\n`) < LINES) continue;
        await write(piece.join(''));
        piece = [];
      }
      await write(piece.join(''));
    };
    return new LineStream(writeTo, () => void this.record(madeAt));
  }

  /** `doctor` asks when the ledger was exported. */
  private async record(madeAt: string): Promise<void> {
    this.logger.info('The operator has downloaded the ledger');
    const { database } = this.config;
    if (database.engine === 'postgres') return;
    await recordBackup(database.path, { ledger: { made_at: madeAt } }).catch((error: unknown) =>
      this.logger.warn(describeFault(error), 'The time of an export of the ledger could not be recorded'),
    );
  }
}
