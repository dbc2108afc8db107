import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Degradations } from '@app/kernel';
import { ErasureGauges } from './erasure.gauges';

const LOOK_MS = 15_000;
/** An erasure takes seconds, and one that a process left behind is taken over within half a minute. */
const USUAL_S = 60;
const ERASURE_UNFINISHED = 'erasure_unfinished';

/**
 * An erasure that does not end is never silent: while one is older than a minute, every process is degraded, also those
 * without jobs. The log has a line when that begins and when it ends.
 */
@Injectable()
export class ErasureWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Erasure');
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly gauges: ErasureGauges,
    private readonly degradations: Degradations,
  ) {}

  /** The start itself finishes what was left behind. */
  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  /** Reports a change. Never rejects. */
  look(): Promise<void> {
    this.looking ??= this.gauges
      .oldestAgeSeconds()
      .then((seconds) => this.note(seconds > USUAL_S))
      // A database that does not answer is reported elsewhere, and says nothing about its erasures.
      .catch(() => undefined)
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private note(isUnfinished: boolean): void {
    if (!this.degradations.note(ERASURE_UNFINISHED, isUnfinished)) return;
    if (!isUnfinished) return this.logger.log('No erasure is unfinished for more than a minute any more');
    this.logger.error(
      'An erasure is unfinished after more than a minute. It is tried again until it ends: look for the fault in the lines of this request (is not finished yet), and whether a process with JOBS=on or a worker runs',
    );
  }
}
