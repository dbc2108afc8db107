import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics, Reading } from './metrics';

/** The interval between two measurements of the event loop, in milliseconds. */
const RESOLUTION_MS = 10;
/** Readings within this time, in milliseconds, share one result. */
const WINDOW_MS = 10_000;

/** The delay of the event loop since the previous reading. Measurement begins with the first reading. */
export class EventLoopDelay {
  private windowBegunMs: number | undefined;
  private last: Reading<'eventLoopDelay'> | undefined;

  constructor(
    private readonly histogram: Pick<
      IntervalHistogram,
      'enable' | 'disable' | 'reset' | 'percentile' | 'max'
    > = monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
  ) {}

  read(nowMs = performance.now()): Reading<'eventLoopDelay'> {
    if (this.windowBegunMs === undefined) {
      this.histogram.enable();
      this.windowBegunMs = nowMs;
    }
    if (nowMs - this.windowBegunMs >= WINDOW_MS) {
      this.last = this.present();
      this.histogram.reset();
      this.windowBegunMs = nowMs;
    }
    return this.last ?? this.present();
  }

  end(): void {
    this.histogram.disable();
  }

  private present(): Reading<'eventLoopDelay'> {
    const { histogram } = this;
    return {
      p50: lateness(histogram.percentile(50)),
      p99: lateness(histogram.percentile(99)),
      max: lateness(histogram.max),
    };
  }
}

/** The measured time is the interval between two timers, so a loop without delay measures the resolution. */
function lateness(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
}

/**
 * Registers memory, start time and event loop of this process. Returns a function that ends the measurement.
 * prom-client's own metrics are not used: they disclose versions, list every open handle, and cannot be chosen one by
 * one.
 */
export function readProcess(metrics: Metrics): () => void {
  const delay = new EventLoopDelay();
  metrics.gauge('eventLoopDelay', () => delay.read());
  metrics.gauge('residentMemory', () => process.memoryUsage.rss());
  metrics.gauge('heapUsed', () => process.memoryUsage().heapUsed);
  metrics.gauge('externalMemory', () => process.memoryUsage().external);
  metrics.gauge('startTime', () => performance.timeOrigin / 1000);
  return () => delay.end();
}
