import { Clock } from '@app/kernel';
import type { Service } from './service';

/** A time in the past, as it is stored. */
export const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** From here on, until the mock is restored, one of the clocks of the service is ahead. */
export function passes(
  { app }: Pick<Service, 'app'>,
  ms: number,
  of: 'nowMs' | 'monotonicMs' = 'nowMs',
): jest.SpyInstance {
  const clock = app.get(Clock, { strict: false });
  // On the prototype, since another mock may stand on the clock itself.
  const now = (Object.getPrototypeOf(clock) as Clock)[of].bind(clock);
  return jest.spyOn(clock, of).mockImplementation(() => now() + ms);
}
