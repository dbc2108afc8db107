import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import type { Answer } from '../support/client';
import { isFull } from '../support/depth';
import { useOneInstallation } from '../support/installation';
import { describeIoFaults, IoFaults } from '../support/io-faults';
import type { SubjectIds } from '../support/snowflakes';

// No fault of reading becomes an absence, an older value or a refusal for another reason.

const FILES = ['/lethe.db', '/lethe.db-wal', '/keys.db', '/keys.db-wal'] as const;
/** The reading that fails, alone or with all that follow: dense at the beginning, up to more than a start makes. */
const READS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377];
/** In part of the cases each file has its first reading and this one; of the last file a start makes only one. */
const LATER = [34, 8, 8, 1];
/** Each file, with one failure and with lasting ones; in part of the cases one of the two. */
const CASES = FILES.flatMap((file, of) =>
  [true, false]
    .filter((_, way) => isFull || way === of % 2)
    .map((onward) => ({
      ...{ file, onward },
      reads: isFull ? READS : [...new Set([1, LATER[of] ?? 1])],
    })),
);

describeIoFaults('a reading of a file that fails', () => {
  const lethe = useOneInstallation({ build: useBuild() });
  let faults: IoFaults;
  let service: ChildService;
  let bot: Bot;
  let [early, late, gone]: SubjectIds[] = [];

  const data = (): string => lethe.directory;
  const saved = (): string => join(lethe.root, 'saved');

  beforeAll(async () => {
    faults = new IoFaults(lethe.root);
    service = await lethe.child(faults.environment).start();
    bot = await Bot.register(service.url);
    await bot.hasCategory('profile');
    [early, gone] = [await bot.hasUser('old'), await bot.hasUser('old')];
    // The first values are in the files, what follows is in their logs alone.
    await service.end('SIGTERM');
    await service.start();
    await bot.hasData(early, 'profile', { value: 'new' });
    await bot.hasForgotten(gone);
    // After the erasure, which empties the log of the keys.
    late = await bot.hasUser('new');
    await service.end('SIGKILL');
    // A socket cannot be copied.
    cpSync(data(), saved(), { recursive: true, filter: (path) => !path.endsWith('.sock') });
  });
  beforeEach(() => {
    rmSync(data(), { recursive: true });
    cpSync(saved(), data(), { recursive: true });
  });
  afterEach(async () => {
    faults.end();
    await service.end('SIGKILL');
  });
  afterAll(() => faults.close());

  type Held = readonly [what: string, answer: Answer, seen: unknown, right: unknown];

  /** What is read of all, beside what is right. */
  async function looks(): Promise<Held[]> {
    const found: Held[] = [];
    for (const who of [early!, late!]) {
      const exported = await bot.export<{ data: object }>(who);
      found.push(['export', exported, () => exported.data.data, { profile: { value: 'new' } }]);
      const status = await bot.status(who);
      found.push(['status', status, () => status.data.status, 'accepted']);
    }
    const none = await bot.status(gone!);
    found.push(['status of an erased user', none, () => none.data.status, 'none']);
    return found;
  }

  /** Each answer is right or a fault; without `mayFail` it is right. */
  async function expectTrue(mayFail: boolean): Promise<void> {
    for (const [what, answer, seen, right] of await looks()) {
      if (mayFail && [500, 503].includes(answer.status)) continue;
      expect([what, answer.status]).toEqual([what, 200]);
      expect([what, (seen as () => unknown)()]).toEqual([what, right]);
    }
  }

  it.each(CASES)(
    'leads at the start to a refusal in words or to a service that is right, and while the service runs to 500, 503 or the right answer: $file, onward $onward',
    async ({ reads, ...where }) => {
      for (const nth of reads) {
        faults.begin({ ...where, op: 'read', error: 'EIO', nth });
        const started = await service.start().then(
          () => true,
          (error: Error) => {
            expect(error.message).toMatch(/^the service ended with 1: [A-Z/][^\n]*\.\n$/);
            return false;
          },
        );
        if (started) await expectTrue(true);
        const hitAtStart = faults.end();
        if (started) await service.end('SIGKILL');
        // What the first fault has left is read by a process that has read nothing yet, under the second one.
        await service.start();
        faults.begin({ ...where, op: 'read', error: 'EIO', nth });
        await expectTrue(true);
        const changed = await bot.post('/data/submit', {
          ...late!,
          category: 'profile',
          data: { value: 'new' },
        });
        expect([200, 201, 500, 503]).toContain(changed.status);
        await expectTrue(true);
        const hit = faults.end();
        // Nothing was changed by either.
        await expectTrue(false);
        await service.end('SIGKILL');
        if (hitAtStart + hit > 0) continue;
        // The readings of the night go on up to more than there are.
        expect(isFull && nth > 1).toBe(true);
        break;
      }
    },
  );
});
