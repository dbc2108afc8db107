import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Config, type Degradations, describeFault, DISK_LOW } from '@app/kernel';
import type { Metrics } from '@app/metrics';
import type { Ballast } from './sqlite.ballast';

const LOOK_MS = 5_000;

/**
 * Watches the room for the SQLite files, on each of their disks. While little is left, or the ballast is incomplete, the process is degraded. The
 * ballast is completed when there is room.
 */
@Injectable()
export class DiskWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Disk');
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly ballast: Ballast | undefined,
    private readonly config: Pick<Config, 'jobs'>,
    private readonly degradations: Degradations,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    const { ballast } = this;
    // A command of the operator leaves the ballast as it is.
    if (ballast === undefined || this.config.jobs === 'off') return;
    this.metrics.gauge('diskFree', () => ballast.freeBytes);
    ballast.onRelease = () => this.note(true);
    this.note(ballast.isLow);
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  /** Completes the ballast if possible, and notes what is left. */
  look(): Promise<void> {
    this.looking ??= this.complete().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async complete(): Promise<void> {
    const { ballast } = this;
    if (ballast === undefined) return;
    try {
      await ballast.complete();
      this.note(ballast.isLow || !ballast.isComplete);
    } catch (error) {
      this.note(true, error);
    }
  }

  private note(isLow: boolean, fault?: unknown): void {
    if (!this.degradations.note(DISK_LOW, isLow)) return;
    if (!isLow) return this.logger.log('The disk of the database has room again');
    this.logger.error(
      'The disk of the database is almost full, or that of its keys: erasures and withdrawals are accepted, requests that store more are refused',
      ...(fault === undefined ? [] : [describeFault(fault)]),
    );
  }
}
