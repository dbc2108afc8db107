import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { describeFault } from '@app/common';
import { ErasureService } from './erasure.service';

/** Erasures that were begun and not finished are taken up again this often. */
const INTERVAL_MS = 30_000;

/** Takes up what was left `processing`: before the server listens, and from then on at intervals. */
@Injectable()
export class ErasureRecovery implements OnApplicationBootstrap {
  private readonly logger = new Logger(ErasureRecovery.name);
  private running = false;

  constructor(private readonly erasures: ErasureService) {}

  /** Nest awaits this before the server listens: no request meets an erasure that a crash left half-way. */
  async onApplicationBootstrap(): Promise<void> {
    await this.recover();
  }

  @Interval(INTERVAL_MS)
  async recover(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      await this.erasures.finishLeft();
    } catch (error) {
      this.logger.error(JSON.stringify(describeFault(error)));
    } finally {
      this.running = false;
    }
  }
}
