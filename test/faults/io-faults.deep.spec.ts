import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import type { Answer } from '../support/client';
import { atDepth, isFull, someOf, stepAtDepth } from '../support/depth';
import { digestsOf, storedIds } from '../support/digests';
import { directoryOnDisk } from '../support/disk';
import { useOneInstallation } from '../support/installation';
import { describeIoFaults, ERRORS, type IoFault, IoFaults } from '../support/io-faults';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import type { SubjectDigests } from '@app/crypto';

/** An act, what it needs before, and what a success adds to the log. */
interface Act {
  readonly name: string;
  readonly before: (who: SubjectIds) => Promise<unknown>;
  readonly act: (who: SubjectIds) => Promise<Answer>;
  readonly adds: readonly string[];
}

const FILES = ['keys.db-wal', 'lethe.db-wal', '/keys.db', '/lethe.db'] as const;
/** More calls than any act makes. */
const CALLS_MAX = 60;

describeIoFaults('a call of the operating system that fails', () => {
  const lethe = useOneInstallation({
    build: useBuild(),
    // The calls fail before they reach the disk: without one, the many acts take less time.
    ...(isFull && { makeDirectory: directoryOnDisk }),
  });
  let faults: IoFaults;
  let service: ChildService;
  let digests: SubjectDigests;
  let bot: Bot;
  let points = 0;

  beforeAll(async () => {
    faults = new IoFaults(lethe.root);
    service = await lethe.child(faults.environment).start();
    digests = await digestsOf(lethe.database, lethe.environment);
    bot = await Bot.register(service.url);
    await bot.hasCategory('profile');
  });
  afterAll(() => {
    faults.close();
    if (isFull) process.stderr.write(`${points} calls of the operating system have failed.\n`);
  });

  const ACTS: readonly Act[] = [
    {
      name: 'a request for consent',
      before: async () => undefined,
      act: (who) => bot.post('/consents/request', { ...who, consent_version: '1' }),
      adds: ['consent_requested'],
    },
    {
      name: 'an acceptance',
      before: (who) => bot.post('/consents/request', { ...who, consent_version: '1' }),
      act: (who) => bot.post('/consents/accept', { ...who, consent_version: '1' }),
      adds: ['consent_accepted'],
    },
    {
      name: 'a submit',
      before: (who) => bot.hasConsent(who),
      act: (who) => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } }),
      adds: ['data_submitted'],
    },
    {
      name: 'an export',
      before: (who) => bot.hasConsent(who),
      act: (who) => bot.export(who),
      adds: ['data_exported'],
    },
    {
      name: 'an event of the bot about somebody new',
      before: async () => undefined,
      act: (who) => bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { at: 1 } }),
      adds: ['data_exported'],
    },
    {
      name: 'a withdrawal',
      before: (who) => bot.hasConsent(who),
      act: (who) => bot.post('/consents/revoke', { ...who }),
      adds: ['consent_revoked'],
    },
    {
      name: 'an erasure',
      before: async (who) => {
        await bot.hasConsent(who);
        await bot.hasData(who, 'profile', { value: 'x' });
      },
      act: (who) => bot.post('/gdpr/forget-user', { ...who }),
      adds: ['deletion_requested', 'deletion_completed'],
    },
  ];

  interface State {
    readonly status: string;
    readonly values: number;
    readonly events: readonly string[];
  }

  /** What can be seen of a subject. */
  async function stateOf(who: SubjectIds): Promise<State> {
    const { guild_id, user_id } = storedIds(digests, bot.id, who);
    const values = await lethe.database.rows(
      'SELECT 1 FROM user_data WHERE bot_id = ? AND guild_id = ? AND user_id = ?',
      ...[bot.id, guild_id, user_id],
    );
    const status = String((await bot.status(who)).data['status']);
    return { status, values: values.length, events: await bot.eventTypes(who) };
  }

  /** Compares the answer with what is there; answers the state. */
  async function expectTrue(
    { adds, name }: Act,
    who: SubjectIds,
    before: State,
    answer: Answer,
  ): Promise<State> {
    const after = await stateOf(who);
    const done = [...before.events, ...adds];
    if (answer.status < 300) expect(after.events).toStrictEqual(done);
    else {
      expect(answer.status).toBe(503);
      const { message, details } = answer.error as { message: string; details?: { status?: string } };
      if (details?.status === 'processing') {
        // A start finishes it before it listens.
        await restart();
        const finished = await stateOf(who);
        expect(finished).toStrictEqual({ status: 'none', values: 0, events: done });
        return finished;
      } else if (message.includes('nothing was changed')) expect(after).toStrictEqual(before);
      else {
        expect(message).toContain('look whether it took effect');
        expect([before.events, done]).toContainEqual(after.events);
      }
    }
    if (name === 'an erasure' && after.events.length === done.length)
      expect(after).toStrictEqual({ status: 'none', values: 0, events: done });
    return after;
  }

  async function restart(): Promise<void> {
    await service.end('SIGKILL');
    await service.start();
  }

  const CASES = FILES.flatMap((file) =>
    (['write', 'sync', 'truncate'] as const).flatMap((op) =>
      (Object.keys(ERRORS) as IoFault['error'][])
        .filter((error) => op === 'write' || error === 'EIO')
        .map((error) => ({ file, op, error })),
    ),
  );

  /** The calls of an act that fail, one at a time: every `STEP`th. */
  const STEP = stepAtDepth(3, 1);
  /** Below full depth a kill follows a third of the acts of each case, and each act in one of three cases. */
  const isKilledAfter = (act: number, at: number): boolean => isFull || (act + at) % 3 === 0;

  it.each(someOf(CASES, 3).map((where, at) => ({ ...where, at })))(
    'leaves an answer that is true, before and after a kill: $error of each $op of $file',
    async ({ at, ...where }) => {
      for (const [index, act] of ACTS.entries()) {
        for (let nth = 1; nth <= CALLS_MAX; nth += STEP) {
          const who = { ...subject(), guild_id: snowflake() };
          await act.before(who);
          const before = await stateOf(who);
          faults.begin({ ...where, nth });
          const answer = await act.act(who);
          const hit = faults.end();
          points += hit;
          const state = await expectTrue(act, who, before, answer);
          if (hit > 0 && answer.status >= 300 && nth <= atDepth(1, 2) && isKilledAfter(index, at)) {
            await restart();
            expect(await stateOf(who)).toStrictEqual(state);
          }
          if (hit === 0) break;
        }
      }
    },
  );
});
