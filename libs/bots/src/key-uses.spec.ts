import { Logger } from '@nestjs/common';
import type { UnitOfWork } from '@app/database';
import { ALL_SCOPES, Caller } from '@app/http';
import { type Clock, Degradations, DISK_LOW } from '@app/kernel';
import { KeyUses } from './key-uses';

const caller = (keyId: string) =>
  new Caller('bot', '123456789012345678', 30, keyId, ALL_SCOPES, false, 'key:sk_live_a');

/** The uses over a database of which `stored` is the table of keys. */
class World {
  readonly stored = new Map<string, string | null>([['key', null]]);
  readonly degradations = new Degradations();
  units = 0;
  isReadOnly = false;
  elapsedMs = 0;
  readonly uses: KeyUses;

  constructor() {
    const tx = {
      get: (_: string, __: string, id: string) =>
        Promise.resolve(this.stored.has(id) ? { last_used_at: this.stored.get(id) } : undefined),
      run: (_: string, at: string, __: string, id: string) => Promise.resolve(this.stored.set(id, at)),
    };
    const write = (work: (given: unknown) => Promise<unknown>) => {
      this.units++;
      return this.isReadOnly ? Promise.reject(new Error('read-only')) : work(tx);
    };
    const clock = { monotonicMs: () => this.elapsedMs, nowMs: () => this.elapsedMs };
    this.uses = new KeyUses({ write } as unknown as UnitOfWork, clock as Clock, this.degradations);
  }

  use(keyId: string): void {
    this.uses.note(caller(keyId), this.elapsedMs);
  }
}

const at = (ms: number) => new Date(ms).toISOString();

describe('KeyUses', () => {
  beforeAll(() => void Logger.overrideLogger(false));
  let world: World;
  beforeEach(() => {
    jest.useFakeTimers();
    world = new World();
  });
  afterEach(() => jest.useRealTimers());

  it('writes the last use of a key once a minute, and shows it at once', async () => {
    world.use('key');
    world.elapsedMs = 1_000;
    world.use('key');
    expect([world.uses.lastOf('key'), world.units]).toEqual([at(1_000), 0]);
    world.elapsedMs = 60_000;
    await jest.advanceTimersByTimeAsync(60_000);
    expect([world.stored.get('key'), world.units]).toEqual([at(1_000), 1]);
    expect(world.uses.lastOf('key')).toBe(at(1_000));
  });

  it('writes nothing without a use', async () => {
    await jest.advanceTimersByTimeAsync(600_000);
    expect(world.units).toBe(0);
  });

  it('leaves a time of another process that is less than a minute older, and keys that are deleted', async () => {
    world.stored.set('key', at(50_000));
    world.elapsedMs = 100_000;
    world.use('key');
    world.use('deleted');
    await world.uses.write();
    expect([...world.stored]).toEqual([['key', at(50_000)]]);
  });

  it('holds a bounded number of keys, and writes them in parts', async () => {
    for (let count = 0; count < 10_500; count++) world.use(`key ${count}`);
    expect(world.uses.lastOf('key 9999')).toBeDefined();
    expect(world.uses.lastOf('key 10000')).toBeUndefined();
    await world.uses.write();
    expect(world.units).toBe(50);
  });

  it('does not fail where the database cannot be written, and writes nothing on a full disk', async () => {
    world.isReadOnly = true;
    world.use('key');
    await expect(world.uses.write()).resolves.toBeUndefined();
    world.isReadOnly = false;
    world.degradations.note(DISK_LOW, true);
    world.use('key');
    await world.uses.write();
    expect([world.stored.get('key'), world.units]).toEqual([null, 1]);
  });

  it('begins no write after the end of the process', async () => {
    world.use('key');
    await world.uses.beforeApplicationShutdown();
    world.use('key');
    await jest.advanceTimersByTimeAsync(120_000);
    expect(world.units).toBe(0);
  });
});
