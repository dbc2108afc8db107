import { Clock, DAY_MS } from '@app/kernel';
import { engine } from './database';
import { PATIENT } from './patient';
import type { Service } from './service';
import { until } from './until';

/** A time in the past, as it is stored. */
export const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** The end of a day is for a slow test. */
const LEFT_MS = 300_000;
/** What counts the day before does so once no unit of it can run any more: after its longest statement, and time for the others. */
const COUNTED_MS = engine === 'postgres' ? Number(PATIENT.DATABASE_STATEMENT_TIMEOUT_MS) + 90_000 : 90_000;

/** Resolves when the day in UTC has begun, and at least five minutes of it are left: for a test that counts days. */
export const amidDay = (fromMs = 90_000): Promise<void> =>
  until(() => {
    const passedMs = Date.now() % DAY_MS;
    return passedMs >= fromMs && passedMs < DAY_MS - LEFT_MS;
  }, 500);

/** The same, and the day before is counted by a job that begins now. Up to 17 minutes: for a hook, which has a time of its own. */
export const amidCountedDay = (): Promise<void> => amidDay(COUNTED_MS);

/** From here on, until the mock is restored, one of the clocks of the service is ahead. The confirmed time follows `nowMs`. */
export function passes(
  { app }: Pick<Service, 'app'>,
  ms: number,
  of: 'nowMs' | 'confirmedMs' | 'monotonicMs' | 'wallMs' = 'nowMs',
): jest.SpyInstance {
  const clock = app.get(Clock, { strict: false });
  // On the prototype, since the clock itself may have another mock.
  const now = (Object.getPrototypeOf(clock) as Clock)[of].bind(clock);
  return jest.spyOn(clock, of).mockImplementation(() => now() + ms);
}

/** From here on, until the mocks are restored, the clock is ahead by a step that is not confirmed. */
export function steps(of: Pick<Service, 'app'>, ms: number): void {
  passes(of, ms);
  passes(of, -ms, 'confirmedMs');
}

/** From here on, until the mocks are restored, each look at the monotonic clock is `ms` later than the one before. */
export function looksTake(ms: number): jest.SpyInstance {
  let nowMs = performance.now();
  return jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += ms));
}

/** The stopped clocks of a limiter. */
export interface StoppedClocks {
  readonly wallMs: number;
  /** Moves both so many milliseconds on from where they were stopped. */
  to(ms: number): void;
}

/** From here on, until the mocks are restored, no window of the limiter ends, unless the test moves its clocks. */
export function stopWindows({ app }: Pick<Service, 'app'>): StoppedClocks {
  const clock = app.get(Clock, { strict: false });
  // Whole milliseconds: a minute after a fraction can be a rounding error short of a minute. A whole second: windows begin with one.
  const [monotonicMs, wallMs] = [Math.floor(performance.now()), Math.floor(Date.now() / 1000) * 1000];
  const to = (ms: number): void => {
    jest.spyOn(clock, 'monotonicMs').mockReturnValue(monotonicMs + ms);
    jest.spyOn(clock, 'wallMs').mockReturnValue(wallMs + ms);
  };
  to(0);
  return { wallMs, to };
}
