import type { IncomingMessage } from 'node:http';
import { Clock, SharedReading } from './clock';
import { NO_METRICS } from './metrics';
import { mayRead } from './metrics.endpoint';
import { EventLoopDelay, PrometheusMetrics } from './prometheus.metrics';

class PlayedClock extends Clock {
  ms = 0;
  nowMs(): number {
    return this.ms;
  }
  monotonicMs(): number {
    return this.ms;
  }
  continueFrom(): void {
    return undefined;
  }
}

function valueOf(text: string, series: string): number {
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length),
  );
}

describe('mayRead without a token', () => {
  const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}) =>
    mayRead('')({ headers, socket: { remoteAddress } as IncomingMessage['socket'] });

  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('admits %s', (address) => {
    expect(from(address)).toBe(true);
    expect(from(address, { 'x-forwarded-for': address })).toBe(false);
  });

  it.each([
    ...['203.0.113.7', '10.0.0.1', '192.168.127.0', '0.0.0.0', '2001:db8::127.0.0.1', '::ffff:10.0.0.1'],
    ...['1127.0.0.1', '::', 'fe80::1', '', undefined],
  ])('does not admit %s, whatever it says of itself', (address) => {
    expect(from(address)).toBe(false);
    expect(from(address, { host: 'localhost', authorization: 'Bearer ' })).toBe(false);
  });
});

describe('mayRead with a token', () => {
  const admits = mayRead('0123456789abcdef');
  const from = (remoteAddress: string, headers: Record<string, string>) =>
    admits({ headers, socket: { remoteAddress } as IncomingMessage['socket'] });

  it('admits every caller that sends it, and no other, not even on the same machine', () => {
    expect(from('203.0.113.7', { authorization: 'Bearer 0123456789abcdef' })).toBe(true);
    expect(from('127.0.0.1', {})).toBe(false);
    expect(from('127.0.0.1', { authorization: 'Bearer 0123456789abcdef0' })).toBe(false);
  });
});

describe('PrometheusMetrics', () => {
  it('lets nothing become a label that the table does not list', async () => {
    const metrics = new PrometheusMetrics();
    const count = metrics.count.bind(metrics) as (name: string, label: string) => void;
    count('erasures', '123456789012345678');
    const gauge = metrics.gauge.bind(metrics) as (name: string, collect: () => unknown) => void;
    gauge('outboxDepth', () => ({ healthy: 1, sk_live_planted: 2 }));
    const text = await metrics.exposition();
    expect(text).not.toMatch(/123456789012345678|sk_live/);
    expect(valueOf(text, 'lethe_webhook_outbox_deliveries{receiver="failing"}')).toBe(0);
  });

  it('shares one reading among those who ask at the same time', async () => {
    const metrics = new PrometheusMetrics();
    let readings = 0;
    metrics.gauge('up', () => ++readings);
    const texts = await Promise.all([1, 2, 3].map(() => metrics.exposition()));
    expect(new Set(texts).size).toBe(1);
    await metrics.exposition();
    expect(readings).toBe(2);
  });

  it('does not wait for a gauge that does not answer', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const metrics = new PrometheusMetrics();
    metrics.gauge('up', () => new Promise<number>(() => undefined));
    const reading = metrics.exposition();
    await jest.advanceTimersByTimeAsync(2_000);
    jest.useRealTimers();
    const text = await reading;
    expect(text).toContain('lethe_http_requests_total');
    expect(valueOf(text, 'lethe_up')).toBeNaN();
  });

  it('counts an answer by a closed list of methods, and puts a time that equals a bound below it', async () => {
    const metrics = new PrometheusMetrics();
    for (const ms of [0.5, 0.500001, 5000, 5000.1]) metrics.answered('GET', '/x', 200, ms);
    metrics.answered('MKCOL', undefined, 404, 1);
    const text = await metrics.exposition();
    expect(valueOf(text, 'lethe_http_requests_total{method="GET",route="/x",status="200"}')).toBe(4);
    expect(valueOf(text, 'lethe_http_requests_total{method="OTHER",route="unknown",status="404"}')).toBe(1);
    const series = (part: string, bound = '') =>
      valueOf(text, `lethe_http_request_duration_seconds_${part}{${bound}method="GET",route="/x"}`);
    const counts = [0.0005, 0.001, 1, 5, '+Inf'].map((bound) => series('bucket', `le="${bound}",`));
    expect([...counts, series('count')]).toEqual([1, 2, 2, 3, 4, 4]);
    expect(series('sum')).toBeCloseTo(10.0011);
  });
});

describe('a library without metrics', () => {
  it('can tell and register all the same', () => {
    NO_METRICS.count('erasures', 'begun');
    NO_METRICS.observe('databaseCommitUnits', 1);
    NO_METRICS.gauge('up', () => {
      throw new Error('no reading');
    });
  });
});

/** A histogram of loop intervals as perf_hooks would measure them. */
class PlayedHistogram {
  times: number[] = [];
  enabled = false;
  enable(): boolean {
    return (this.enabled = true);
  }
  disable(): boolean {
    return !(this.enabled = false);
  }
  reset(): void {
    this.times = [];
  }
  get max(): number {
    return Math.max(0, ...this.times) * 1e6;
  }
  percentile(percent: number): number {
    const sorted = [...this.times].sort((one, other) => one - other);
    return (sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0) * 1e6;
  }
}

describe('EventLoopDelay', () => {
  it('measures nothing before the first reading, and ends when it is stopped', () => {
    const histogram = new PlayedHistogram();
    const delay = new EventLoopDelay(histogram);
    expect(histogram.enabled).toBe(false);
    expect(delay.read(0)).toEqual({ p50: 0, p99: 0, max: 0 });
    expect(histogram.enabled).toBe(true);
    delay.end();
    expect(histogram.enabled).toBe(false);
  });

  it('tells how much later than planned the loop came, the same to all who ask within a window', () => {
    const histogram = new PlayedHistogram();
    const delay = new EventLoopDelay(histogram);
    delay.read(0);
    histogram.times = [10, 12, 110];
    expect(delay.read(10_000)).toEqual({ p50: 0.002, p99: 0.1, max: 0.1 });
    histogram.times = [10];
    expect(delay.read(19_999)).toEqual({ p50: 0.002, p99: 0.1, max: 0.1 });
    expect(delay.read(20_000)).toEqual({ p50: 0, p99: 0, max: 0 });
  });
});

describe('SharedReading', () => {
  it('asks once in its time, also after a failure', async () => {
    const clock = new PlayedClock();
    let asked = 0;
    const ask = jest.fn(async () => ++asked);
    const reading = new SharedReading(clock, 5_000, ask);
    expect(await Promise.all([reading.get(), reading.get()])).toEqual([1, 1]);
    clock.ms = 4_999;
    expect(await reading.get()).toBe(1);
    clock.ms = 5_000;
    ask.mockRejectedValueOnce(new Error('away'));
    await expect(reading.get()).rejects.toThrow('away');
    await expect(reading.get()).rejects.toThrow('away');
    clock.ms = 10_000;
    expect(await reading.get()).toBe(2);
    expect(ask).toHaveBeenCalledTimes(3);
  });
});
