import { CircuitBreakers } from './circuit-breakers';

describe('CircuitBreakers', () => {
  let nowMs: number;
  let breakers: CircuitBreakers;
  const fail = (times: number): void => {
    for (let n = 0; n < times; n++) breakers.fail('bot');
  };

  beforeEach(() => {
    nowMs = 0;
    breakers = new CircuitBreakers(() => nowMs);
  });

  it('let calls pass until five have failed in a row', () => {
    fail(4);
    expect(breakers.waitMs('bot')).toBe(0);
    breakers.succeed('bot');
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
      expect([breakers.waitMs('bot'), breakers.begin('bot')]).toEqual([0, true]);
      expect(breakers.waitMs('bot')).toBe(Infinity);
      fail(1);
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
  });

  it('let a probe pass at once on demand, one at a time, and continue the pause when it fails', () => {
    fail(5);
    breakers.probeNow('bot');
    expect([breakers.waitMs('bot'), breakers.begin('bot')]).toEqual([0, true]);
    breakers.probeNow('bot');
    expect(breakers.waitMs('bot')).toBe(Infinity);
    fail(1);
    expect(breakers.waitMs('bot')).toBe(60_000);
    breakers.probeNow('stranger');
    expect(breakers.waitMs('stranger')).toBe(0);
  });

  it('do not prolong the pause for calls that began before it', () => {
    fail(5);
    nowMs = 10_000;
    fail(2);
    expect(breakers.waitMs('bot')).toBe(20_000);
  });

  it('say with the first success whether calls were paused', () => {
    fail(1);
    expect(breakers.succeed('bot')).toBe(false);
    fail(5);
    expect(breakers.succeed('bot')).toBe(true);
    expect(breakers.waitMs('bot')).toBe(0);
  });

  it('learn nothing from a probe that was interrupted', () => {
    fail(5);
    nowMs = 30_000;
    breakers.begin('bot');
    breakers.abandon('bot');
    expect(breakers.waitMs('bot')).toBe(0);
  });

  it('forget bots that have nothing to send', () => {
    fail(5);
    breakers.retain((botId) => botId !== 'bot');
    expect(breakers.waitMs('bot')).toBe(0);
  });
});
