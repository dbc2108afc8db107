import type { UnitOfWork } from '@app/database';
import { ALL_SCOPES, type LetheRequest } from '@app/http';
import { Clock, type Config, SystemClock, SystemRandom } from '@app/kernel';
import type { Response } from 'express';
import { newApiKey } from './api-key';
import { ApiKeyDirectory, ApiKeyTimes, identify } from './api-key-directory';
import { Tiers } from './tiers';

const authorization = `Bearer ${newApiKey(new SystemRandom(new SystemClock()), 'live')}`;

/** A directory over a database that holds the key until it is `deleted`. */
class World {
  deleted = false;
  nowMs = 0;
  /** For how long the machine was suspended, which stops the monotonic clock. */
  suspendedMs = 0;
  /** By how much the clock of the machine was set back. */
  setBackMs = 0;
  expiresAt: string | null = null;
  readonly keys: ApiKeyDirectory;
  private readonly middleware;

  constructor(engine: 'sqlite' | 'postgres') {
    const unitOfWork = {
      get: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return this.deleted ? undefined : this.row();
      },
    };
    const clock = Object.create(Clock.prototype, {
      monotonicMs: { value: () => this.nowMs - this.suspendedMs },
      nowMs: { value: () => this.nowMs - this.setBackMs },
    }) as Clock;
    const config = { database: { engine }, tiers: new Map([['free', 30]]), botTiers: new Map() };
    this.keys = new ApiKeyDirectory(
      unitOfWork as unknown as UnitOfWork,
      clock,
      new ApiKeyTimes(),
      new Tiers(config),
      config as unknown as Config,
    );
    this.middleware = identify(this.keys, { note: () => undefined });
  }

  private row(): object {
    const bot = { id: 'bot', platform_bot_id: '123456789012345678', tier: null, suspended_at: null };
    return { ...bot, key_id: 'key', scopes: ALL_SCOPES, expires_at: this.expiresAt };
  }

  async isKnownOn(socket: object): Promise<boolean> {
    const request = { headers: { authorization }, socket, context: {} } as unknown as LetheRequest;
    await new Promise<void>((resolve) => this.middleware(request, {} as Response, () => resolve()));
    return request.context.caller !== undefined;
  }
}

describe('a key that was taken away', () => {
  it.each(['sqlite', 'postgres'] as const)('is unknown at once on every connection (%s)', async (engine) => {
    const world = new World(engine);
    const sockets = [{}, {}, {}];
    // All look-ups run at the same time, each on its own.
    expect(await Promise.all(sockets.map((socket) => world.isKnownOn(socket)))).toEqual([true, true, true]);
    world.deleted = true;
    world.keys.forget('bot');
    for (const socket of [...sockets, {}]) expect(await world.isKnownOn(socket)).toBe(false);
  });

  it('is unknown where it was being looked up meanwhile', async () => {
    const world = new World('sqlite');
    const socket = {};
    const asking = world.isKnownOn(socket);
    world.deleted = true;
    world.keys.forget('bot');
    await asking;
    expect(await world.isKnownOn(socket)).toBe(false);
  });

  it('is believed by another process of a PostgreSQL database for a second at most', async () => {
    const world = new World('postgres');
    const socket = {};
    await world.isKnownOn(socket);
    world.deleted = true;
    world.nowMs = 999;
    expect(await world.isKnownOn(socket)).toBe(true);
    world.nowMs = 1_000;
    expect(await world.isKnownOn(socket)).toBe(false);
  });

  it.each(['suspendedMs', 'setBackMs'] as const)(
    'is believed no longer where one clock has %s',
    async (clock) => {
      const world = new World('postgres');
      const socket = {};
      await world.isKnownOn(socket);
      world.deleted = true;
      world[clock] = 999;
      world.nowMs = 999;
      expect(await world.isKnownOn(socket)).toBe(true);
      world[clock] = 1_000;
      world.nowMs = 1_000;
      expect(await world.isKnownOn(socket)).toBe(false);
    },
  );

  it('leaves the keys of other bots in memory', async () => {
    const world = new World('sqlite');
    const socket = {};
    await world.isKnownOn(socket);
    world.deleted = true;
    world.keys.forget('another bot');
    expect(await world.isKnownOn(socket)).toBe(true);
  });
});

describe('a key that expires', () => {
  it.each(['sqlite', 'postgres'] as const)(
    'is unknown from then on where it was cached (%s)',
    async (engine) => {
      const world = new World(engine);
      world.expiresAt = new Date(500).toISOString();
      const socket = {};
      expect(await world.isKnownOn(socket)).toBe(true);
      world.nowMs = 499;
      expect(await world.isKnownOn(socket)).toBe(true);
      world.nowMs = 500;
      for (const at of [socket, {}]) expect(await world.isKnownOn(at)).toBe(false);
    },
  );
});
