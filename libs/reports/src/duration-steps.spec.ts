import { chance } from '../../../test/support/chance';
import { quantile, stepOf } from './duration-steps';

/** The nearest rank of the durations themselves. */
function exact(durations: readonly number[], share: number): number {
  const sorted = [...durations].sort((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil(sorted.length * share)) - 1] ?? NaN;
}

function counted(durations: readonly number[]) {
  const steps = new Map<number, number>();
  for (const each of durations) steps.set(stepOf(each), (steps.get(stepOf(each)) ?? 0) + 1);
  return { steps, longestMs: Math.max(...durations) };
}

describe('durations that are counted by steps', () => {
  it('are shown off by less than 10 %, each for itself from 0 ms to two months', () => {
    for (let ms = 0; ms < 5_200_000_000; ms = Math.ceil(ms * 1.003) + 1) {
      const shown = quantile({ ...counted([ms]), longestMs: Infinity }, 0.5);
      expect(Math.abs(shown - ms)).toBeLessThanOrEqual(ms * 0.099);
    }
  });

  it('have percentiles that are off by less than 10 % of those of the durations', () => {
    for (let round = 0; round < 200; round++) {
      const count = 1 + Math.floor(chance() * 300);
      const durations = Array.from({ length: count }, () => Math.floor(Math.exp(chance() * 18)) - 1);
      for (const share of [0.5, 0.95]) {
        const wanted = exact(durations, share);
        const shown = quantile(counted(durations), share);
        expect(Math.abs(shown - wanted)).toBeLessThanOrEqual(wanted * 0.1);
        expect(shown).toBeLessThanOrEqual(Math.max(...durations));
      }
    }
  });

  it('are exact up to 20 ms, and never negative', () => {
    for (let ms = 0; ms <= 20; ms++) expect(quantile(counted([ms]), 0.95)).toBe(ms);
    expect(stepOf(-5)).toBe(0);
  });

  it('have a bounded number of steps', () => {
    expect(stepOf(Number.MAX_SAFE_INTEGER)).toBe(160);
    expect(quantile(counted([Number.MAX_SAFE_INTEGER]), 0.5)).toBeGreaterThan(5_000_000_000);
  });
});
