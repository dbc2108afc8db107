import { ERASED_IDS, type InstallationKeys, SubjectKey } from '@app/crypto';
import { ConcurrentChange } from '@app/database';
import { Degradations, SystemClock, SystemRandom } from '@app/kernel';
import { detailsContext, DigestKey, ENCRYPTION_KEY_BYTES } from '@app/primitives';
import {
  BatchHasher,
  type BatchSeal,
  EventCommitments,
  type EventOpener,
  type EventRow,
  HashingThread,
  secretsOf,
  type StoredEvents,
  threadBatch,
  unpacked,
} from '@app/sealing';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { useBuild } from '../support/build';
import { until } from '../support/until';

const BOT = 'bot-1';
const LIMITS = { answerMs: 20_000, idleMs: 60_000, pauseMs: 0 };
const clock = new SystemClock();
const random = new SystemRandom(clock);
const newKey = (id: string): SubjectKey =>
  new SubjectKey(id, random.bytes(32), random, { guild_id: '900', user_id: `user of ${id}` });

const digest = random.bytes(32);
const digestKey = new DigestKey(digest);
const service = newKey('evidence');
const commitments = new EventCommitments(digest, service);
const installationKeys = { digest, installation: service } as unknown as InstallationKeys;
const secrets = () => secretsOf(installationKeys);

/** One of four kinds: with details and without, and about an erasure, of a subject that is erased or lives anew. */
function eventOf(at: number, key: SubjectKey, kind = at % 4): EventRow {
  const [id, createdAt] = [random.uuid(), clock.nowIso()];
  const { guild_id, user_id } = key.ids ?? ERASED_IDS;
  const ids = {
    guild_id: digestKey.of(BOT, 'guild', guild_id),
    user_id: digestKey.of(BOT, 'user', user_id),
  };
  const by = kind < 2 ? key : service;
  const text = kind === 1 ? 'null' : JSON.stringify({ category: `ä${at}` });
  return {
    ...{ seq: at + 1, id, event_type: 'data_submitted', source: 'service', created_at: createdAt },
    ...ids,
    ...(kind === 2 ? { key_id: null, key_sealed: null } : { key_id: key.id, key_sealed: 'v2.' }),
    details: by.encrypt(text, detailsContext(BOT, ids.guild_id, ids.user_id, id)),
  };
}

function eventsOf(of: readonly SubjectKey[], count: number): StoredEvents {
  const keyAt = (at: number): SubjectKey => of[at % of.length] ?? service;
  const rows = Array.from({ length: count }, (_, at) => eventOf(at, keyAt(at)));
  return { rows, keys: rows.map(({ key_id: id }, at) => (id === null ? undefined : keyAt(at))) };
}

const inPlace = ({ rows, keys: of }: StoredEvents): Promise<BatchSeal> => commitments.seal(BOT, rows, of);

const keys = Array.from({ length: 7 }, (_, at) => newKey(`key-${at}`));

describe('the thread that seals', () => {
  const build = useBuild();
  const threads: HashingThread[] = [];
  const startOf = (file: string): HashingThread => {
    const thread = new HashingThread(secrets, file, LIMITS);
    threads.push(thread);
    return thread;
  };
  const start = (): HashingThread => startOf(join(build.directory, 'hashing.thread.js'));
  const scripted = (name: string, script: string): HashingThread => {
    const file = join(build.workingDirectory, name);
    writeFileSync(file, script);
    return startOf(file);
  };

  afterEach(async () => {
    for (const thread of threads.splice(0)) await thread.end();
  });

  it('computes the same as in place, for every kind of event', async () => {
    const events = eventsOf(keys, 500);
    expect(await start().seal(() => threadBatch(BOT, events))).toStrictEqual(await inPlace(events));
  });

  it('answers each of several that ask at once with its own', async () => {
    const thread = start();
    const batches = [1, 200, 30].map((count) => eventsOf(keys, count));
    const sealed = await Promise.all(batches.map((events) => thread.seal(() => threadBatch(BOT, events))));
    for (const [at, events] of batches.entries()) expect(sealed[at]).toStrictEqual(await inPlace(events));
  });

  it('commits with random salts to details that cannot be decrypted, and says so', async () => {
    const closed = eventOf(0, newKey('lost'));
    const bare = { ...closed, details: '{"category":"not encrypted"}' };
    const erased = { ...closed, key_id: null, key_sealed: null };
    const events = {
      rows: [closed, closed, bare, erased],
      keys: [undefined, undefined, keys[0], undefined],
    };
    const { entries } = await start().seal(() => threadBatch(BOT, events));
    const [first, second, ...others] = unpacked(entries) ?? [];
    expect([first, second, ...others].map((entry) => entry?.saltedBy)).toStrictEqual(Array(4).fill(2));
    expect(first?.commitment.equals(second?.commitment ?? Buffer.alloc(0))).toBe(false);
  });

  it('overwrites the keys of the sender', async () => {
    const batch = threadBatch(BOT, eventsOf(keys, 20));
    // Each once.
    expect(batch.keys.byteLength).toBe(keys.length * ENCRYPTION_KEY_BYTES);
    const sealed = start().seal(() => batch);
    await sealed;
    expect(batch.keys.byteLength).toBe(0);
  });

  it('overwrites the keys when it has used them', async () => {
    const sent: unknown[] = [];
    const script = `
      const { parentPort, workerData } = require('node:worker_threads');
      const listened = parentPort.on.bind(parentPort);
      let batch;
      const post = parentPort.postMessage.bind(parentPort);
      parentPort.postMessage = () => setImmediate(() => post({ left: batch.keys.some((byte) => byte !== 0) }));
      parentPort.on = (name, listener) => listened(name, (given) => { batch = given; listener(given); });
      require(${JSON.stringify(join(build.directory, 'hashing.thread.js'))});`;
    sent.push(await scripted('watched.js', script).seal(() => threadBatch(BOT, eventsOf(keys, 20))));
    expect(sent).toStrictEqual([{ left: false }]);
  });

  it('waits no longer for an answer than its limit, and starts no thread for a while', async () => {
    const file = join(build.workingDirectory, 'silent.js');
    writeFileSync(file, 'require("node:worker_threads").parentPort.on("message", () => undefined)');
    const thread = new HashingThread(secrets, file, { answerMs: 200, idleMs: 60_000, pauseMs: Infinity });
    const made = jest.fn(() => threadBatch(BOT, eventsOf(keys, 3)));
    const asked = [thread.seal(made), thread.seal(made)];
    const reasons = (await Promise.allSettled(asked)).map((outcome) =>
      String((outcome as { reason?: Error }).reason),
    );
    expect(reasons).toStrictEqual([
      expect.stringContaining('aborted'),
      'Error: the thread has failed lately',
    ]);
    expect(made).toHaveBeenCalledTimes(1);
    expect(made.mock.results[0]?.value.keys.byteLength).toBe(0);
    expect(thread.isRunning).toBe(false);
  });

  it('notices a thread that ends without an error', async () => {
    const thread = scripted(
      'ending.js',
      'require("node:worker_threads").parentPort.on("message", () => process.exit(0))',
    );
    await expect(thread.seal(() => threadBatch(BOT, eventsOf(keys, 3)))).rejects.toThrow('has ended');
  });

  it('overwrites the keys itself without a thread', async () => {
    const batch = threadBatch(BOT, eventsOf(keys, 3));
    const thread = new HashingThread(() => {
      throw new Error('no threads left');
    });
    await expect(thread.seal(() => batch)).rejects.toThrow('no threads left');
    expect(batch.keys.every((byte) => byte === 0)).toBe(true);
    expect(batch.keys.byteLength).toBeGreaterThan(0);
  });

  it.each([
    ['that cannot be started', 'throw new Error("no")'],
    ['that dies', 'require("node:worker_threads").parentPort.on("message", () => { throw new Error("no") })'],
  ])('fails where there is none %s, and is started anew for the next', async (_, script) => {
    const thread = scripted('failing.js', script);
    const events = eventsOf(keys, 3);
    await expect(thread.seal(() => threadBatch(BOT, events))).rejects.toThrow('no');
    writeFileSync(
      join(build.workingDirectory, 'failing.js'),
      `require(${JSON.stringify(join(build.directory, 'hashing.thread.js'))})`,
    );
    expect(await thread.seal(() => threadBatch(BOT, events))).toStrictEqual(await inPlace(events));
  });
});

describe('a thread that is not asked', () => {
  const build = useBuild();

  it('may die: the process continues, and the next batch starts another', async () => {
    const file = join(build.workingDirectory, 'dying.js');
    /** The thread dies once there is this file. */
    const end = join(build.workingDirectory, 'end');
    writeFileSync(
      file,
      `require(${JSON.stringify(join(build.directory, 'hashing.thread.js'))});
       const { existsSync } = require('node:fs');
       setInterval(() => { if (existsSync(${JSON.stringify(end)})) throw new Error('later') }, 10);`,
    );
    const thread = new HashingThread(secrets, file, LIMITS);
    const events = eventsOf(keys, 3);
    for (let time = 0; time < 2; time++) {
      expect(await thread.seal(() => threadBatch(BOT, events))).toStrictEqual(await inPlace(events));
      writeFileSync(end, '');
      await until(() => !thread.isRunning);
      rmSync(end);
    }
    await thread.end();
  });

  it('ends after a while, and is started again', async () => {
    const thread = new HashingThread(secrets, join(build.directory, 'hashing.thread.js'), {
      ...LIMITS,
      idleMs: 50,
    });
    const events = eventsOf(keys, 3);
    const expected = await inPlace(events);
    for (let time = 0; time < 2; time++) {
      const sealed = await thread.seal(() => threadBatch(BOT, events));
      // In the turn of the answer, before any timer.
      expect(thread.isRunning).toBe(true);
      expect(sealed).toStrictEqual(expected);
      await until(() => !thread.isRunning);
    }
  });
});

describe('the sealing of events', () => {
  const degradations = new Degradations();
  // A thread cannot be started from the sources.
  const sealing = new BatchHasher({ commitments } as EventOpener, degradations, installationKeys);

  it('does without the thread where that fails, says so, and does not try again soon', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const events = eventsOf(keys, 150);
    const expected = await inPlace(events);
    expect(await sealing.seal(BOT, events)).toStrictEqual(expected);
    expect(await sealing.seal(BOT, events)).toStrictEqual(expected);
    expect(warn.mock.calls).toStrictEqual([
      [
        expect.stringContaining('sealed without a thread'),
        expect.objectContaining({ fault: expect.any(String) }),
      ],
    ]);
    expect(degradations.current).toStrictEqual(['audit_sealing_in_place']);
    // The timer of the degradation, after which the thread is used again.
    jest.runOnlyPendingTimers();
    expect(degradations.current).toStrictEqual([]);
    jest.useRealTimers();
    warn.mockRestore();
  });

  it.each([1, 150])(
    'asks for %i events to be read again when a key was destroyed meanwhile',
    async (count) => {
      const [gone, fresh] = [
        newKey('gone'),
        new BatchHasher({ commitments } as EventOpener, new Degradations(), installationKeys),
      ];
      const events = eventsOf([gone], count);
      gone.wipe();
      await expect(fresh.seal(BOT, events)).rejects.toThrow(ConcurrentChange);
    },
  );
});
