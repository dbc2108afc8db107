import { Inject, Injectable } from '@nestjs/common';
import { ErasureLedger } from '@app/gdpr';
import { AnswerStream, NDJSON } from '@app/http';
import { Clock, type Config, CONFIG, describeFault, LOGGER } from '@app/kernel';
import { recordBackup } from './sqlite.backup-record';
import type { Logger } from 'pino';

/** The ledger of all erasures as a file, the same that `ledger:export` writes. No unit is open while its reader waits. */
@Injectable()
export class LedgerDownload {
  constructor(
    private readonly ledger: ErasureLedger,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @param isWhole whether the caller gets the lines, and not their headers alone */
  stream(isWhole: boolean): AnswerStream {
    const madeAt = this.clock.nowIso();
    return new AnswerStream(async (write) => {
      if (isWhole) for await (const piece of this.ledger.pieces()) await write(piece);
      // Sends the headers where nothing is written, and fails for a reader that went away with the last lines.
      await write('');
      if (isWhole) await this.record(madeAt);
    }, NDJSON);
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
