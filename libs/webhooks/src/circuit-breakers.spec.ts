import { CircuitBreakers } from './circuit-breakers';
import type { Outcome } from './webhook-call';

describe('CircuitBreakers', () => {
  let nowMs: number;
  let breakers: CircuitBreakers;
  const learn = (outcome: Outcome, status?: number): boolean =>
    breakers.learn('bot', { outcome, durationMs: 1, ...(status !== undefined && { status }) });
  const fail = (times: number): void => {
    for (let n = 0; n < times; n++) expect(learn('timed_out')).toBe(false);
  };
  const probe = (): void => {
    expect(breakers.waitMs('bot')).toBe(0);
    breakers.begin('bot');
    expect(breakers.waitMs('bot')).toBe(Infinity);
  };

  beforeEach(() => {
    nowMs = 0;
    breakers = new CircuitBreakers(() => nowMs);
  });

  it('let calls pass until five have failed in a row', () => {
    fail(4);
    expect(breakers.waitMs('bot')).toBe(0);
    learn('confirmed');
    fail(4);
    expect(breakers.waitMs('bot')).toBe(0);
    fail(1);
    expect(breakers.waitMs('bot')).toBe(30_000);
    expect(breakers.waitMs('other')).toBe(0);
  });

  it('let a single probe pass after the pause, and double the pause up to ten minutes with each that fails', () => {
    fail(5);
    const pauses: number[] = [];
    for (let n = 0; n < 7; n++) {
      pauses.push(breakers.waitMs('bot'));
      nowMs += breakers.waitMs('bot');
      probe();
      fail(1);
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
  });

  it('let a probe pass at once on demand, one at a time, and continue the pause when it fails', () => {
    fail(5);
    breakers.probeNow('bot');
    probe();
    fail(1);
    expect(breakers.waitMs('bot')).toBe(60_000);
    breakers.probeNow('stranger');
    expect(breakers.waitMs('stranger')).toBe(0);
  });

  it('let one more pass at once after a probe during which it was asked for', () => {
    fail(5);
    nowMs = 30_000;
    probe();
    breakers.probeNow('bot');
    expect(breakers.waitMs('bot')).toBe(Infinity);
    fail(1);
    probe();
    fail(1);
    expect(breakers.waitMs('bot')).toBe(120_000);
  });

  it('do not prolong the pause for calls that began before it', () => {
    fail(5);
    nowMs = 10_000;
    fail(2);
    expect(breakers.waitMs('bot')).toBe(20_000);
  });

  it.each([
    ['confirmed', 200, true],
    ['gone', 410, false],
    ['refused', 422, false],
  ] as const)(
    'end the pause with the first answer, and say whether it confirms after a pause: %s',
    (outcome, status, works) => {
      fail(1);
      expect(learn(outcome, status)).toBe(false);
      fail(5);
      expect(learn(outcome, status)).toBe(works);
      expect(breakers.waitMs('bot')).toBe(0);
    },
  );

  it.each([429, 500, 503])('count a status of %d as a failure', (status) => {
    for (let n = 0; n < 5; n++) learn('refused', status);
    expect(breakers.waitMs('bot')).toBe(30_000);
  });

  it('learn nothing from a probe that was interrupted', () => {
    fail(5);
    nowMs = 30_000;
    probe();
    learn('interrupted');
    expect(breakers.waitMs('bot')).toBe(0);
    fail(1);
    expect(breakers.waitMs('bot')).toBe(60_000);
  });

  it('say it of the next confirmation where the first one could not be stored, whatever others have stored meanwhile', () => {
    fail(5);
    expect(learn('confirmed')).toBe(true);
    expect(learn('confirmed')).toBe(false);
    breakers.unlearn('bot');
    expect([learn('confirmed'), learn('confirmed')]).toEqual([true, false]);
  });

  it('forget bots that have nothing to send', () => {
    fail(5);
    breakers.retain(new Set(['other']));
    expect(breakers.waitMs('bot')).toBe(0);
  });
});
