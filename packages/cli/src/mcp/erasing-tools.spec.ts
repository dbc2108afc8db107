import {
  ConflictError,
  type Hooks,
  type Lethe,
  LetheError,
  NetworkError,
  RateLimitedError,
  UnauthorizedError,
  UnavailableError,
} from '@lethe/sdk';
import type { Session } from '../session';
import { Erasures } from './erasing-tools';
import { type Confirmation, FailedResult, type Given, type ToolCall } from './tool';

const WHO = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const EVERYWHERE = { user_id: WHO.user_id, everywhere: true };
const REQUEST = { request_id: 'r', status: 'completed', deleted_categories: ['profile'], notice: 'n' };

interface Plan {
  readonly answer?: Confirmation;
  readonly canAsk?: boolean;
  /** What the service answers to the erasure, or throws. */
  readonly forgets?: object;
  /** With what an attempt before that answer has failed. */
  readonly repeats?: LetheError;
}

/** The tools over a service of which the test says what it answers. */
function planned({ answer = 'confirmed', canAsk = true, forgets = REQUEST, repeats }: Plan = {}) {
  const seen = {
    nowMs: 1_800_000_000_000,
    erased: [] as object[],
    questions: [] as string[],
    phrases: [] as string[],
  };
  let hooks: Hooks | undefined;
  const forget = (given: object): Promise<object> => {
    seen.erased.push(given);
    const attempt = { route: 'POST /gdpr/forget-user', attempt: 1, waitMs: 0 } as const;
    if (repeats !== undefined) hooks?.onRetry?.({ ...attempt, error: repeats });
    return forgets instanceof Error ? Promise.reject(forgets) : Promise.resolve(forgets);
  };
  const items = [{ ...WHO, status: 'accepted' }];
  const lethe = {
    users: { list: () => ({ page: () => Promise.resolve({ items, next: null }) }) },
    data: {
      refusals: () => Promise.resolve({ objections: [], restrictions: [] }),
      values: () =>
        Promise.resolve({ values: { profile: { nickname: 'Robin' } }, updated_at: { profile: 't' } }),
    },
    privacy: { forget, forgetEverywhere: forget },
  } as unknown as Lethe;
  const session = {
    ...{ url: 'https://lethe.example/x', envFile: "/it's/.env" },
    client: (given?: Hooks) => {
      hooks = given;
      return lethe;
    },
  } as Session;
  const tools = new Erasures(session, () => seen.nowMs).tools();
  const signal = new AbortController().signal;
  const confirm = (question: string, phrase: string): Promise<Confirmation> => {
    seen.questions.push(question);
    seen.phrases.push(phrase);
    return Promise.resolve(answer);
  };
  const call: ToolCall = { lethe, signal, canAsk, confirm };
  const run = async (name: string, given: Given): Promise<Record<string, unknown>> =>
    (await tools.find((tool) => tool.name === name)?.run(given, call)) as Record<string, unknown>;
  return { run, seen };
}

const prepared = async ({ run }: ReturnType<typeof planned>, given: Given = WHO): Promise<Given> => {
  const { erasure_id } = await run('prepare_erasure', given);
  return { erasure_id };
};

describe('an erasure that a model asks for', () => {
  it('is prepared with a preview that has no value and no phrase', async () => {
    const plan = planned();
    const answer = await plan.run('prepare_erasure', WHO);
    expect(answer).toMatchObject({
      erased: false,
      would_be_erased: [{ stored: [{ category: 'profile', fields: 1, bytes: 20, updated_at: 't' }] }],
      expires_at: '2027-01-15T08:05:00.000Z',
    });
    expect(JSON.stringify(answer)).not.toMatch(/Robin|erase [A-Z0-9]{6}/);
    expect(plan.seen).toMatchObject({ erased: [], questions: [] });
  });

  it('shows its phrase in the question alone, another one each time', async () => {
    const plan = planned();
    for (let each = 0; each < 3; each += 1) {
      const answer = await plan.run('confirm_erasure', await prepared(plan));
      expect(JSON.stringify(answer)).not.toContain(plan.seen.phrases[each]);
      expect(plan.seen.questions[each]).toContain(`type: ${plan.seen.phrases[each]}`);
      expect(plan.seen.phrases[each]).toMatch(/^erase [A-Z0-9]{6}$/);
    }
    expect(new Set(plan.seen.phrases).size).toBe(3);
    expect(plan.seen.questions[0]).toContain(
      `Everything about user ${WHO.user_id} in guild ${WHO.guild_id} is erased for ever at lethe.example.\n` +
        `guild ${WHO.guild_id}: consent accepted; profile (20 bytes)`,
    );
  });

  it('is done once, and only what was prepared', async () => {
    const plan = planned();
    const given = await prepared(plan);
    expect(await plan.run('confirm_erasure', given)).toEqual({
      ...{
        erased: true,
        ...WHO,
        request_id: 'r',
        status: 'completed',
        deleted_categories: ['profile'],
        notice: 'n',
      },
    });
    await expect(plan.run('confirm_erasure', given)).rejects.toThrow('not prepared');
    await expect(plan.run('confirm_erasure', { erasure_id: '__proto__' })).rejects.toThrow('not prepared');
    expect(plan.seen.erased).toEqual([WHO]);
  });

  it.each([
    ['declined', 'The human has declined.'],
    ['wrong phrase', 'The human has typed another phrase.'],
    ['no answer', 'The human has not answered.'],
    ['busy', 'asked about another erasure'],
  ] as const)('is not done after "%s", and then has to be prepared again', async (answer, words) => {
    const plan = planned({ answer });
    const given = await prepared(plan);
    await expect(plan.run('confirm_erasure', given)).rejects.toThrow(
      new RegExp(`${words}.*Nothing was erased`),
    );
    await expect(plan.run('confirm_erasure', given)).rejects.toThrow('tried already');
    expect(plan.seen.erased).toEqual([]);
  });

  it('is not done five minutes after it was prepared', async () => {
    const plan = planned();
    const given = await prepared(plan);
    plan.seen.nowMs += 5 * 60_000;
    await expect(plan.run('confirm_erasure', given)).rejects.toThrow('5 minutes');
    expect(plan.seen).toMatchObject({ erased: [], questions: [] });
  });

  it('is forgotten after sixteen newer ones', async () => {
    const plan = planned();
    const first = await prepared(plan);
    const second = await prepared(plan);
    for (let each = 0; each < 15; each += 1) await prepared(plan);
    await expect(plan.run('confirm_erasure', first)).rejects.toThrow('not prepared');
    expect(await plan.run('confirm_erasure', second)).toMatchObject({ erased: true });
  });

  it('is a command for a human where the client cannot ask', async () => {
    const plan = planned({ canAsk: false });
    const answer = await plan.run('prepare_erasure', EVERYWHERE);
    expect(answer).toMatchObject({
      erased: false,
      command: String.raw`lethe --url https://lethe.example/x --dotenv '/it'\''s/.env' forget 123456789012345678 --everywhere`,
    });
    expect(answer).not.toHaveProperty('erasure_id');
    expect(plan.seen).toMatchObject({ erased: [], questions: [] });
  });

  it.each([{}, { guild_id: WHO.guild_id, everywhere: true }, { everywhere: false }])(
    'names its guild, or all of them: not %j',
    async (place) => {
      await expect(planned().run('prepare_erasure', { user_id: WHO.user_id, ...place })).rejects.toThrow(
        'Where?',
      );
    },
  );

  it('is said to be done only where every guild is completed', async () => {
    const confirmed = async (forgets: object, given?: Given): Promise<unknown> => {
      const plan = planned({ forgets });
      return plan.run('confirm_erasure', await prepared(plan, given));
    };
    const processing = { ...REQUEST, status: 'processing' };
    expect(await confirmed(processing)).toMatchObject({
      ...{
        erased: false,
        status: 'processing',
        next_step: expect.stringContaining('erasure_status') as string,
      },
    });
    expect(await confirmed({ requests: [REQUEST, processing] }, EVERYWHERE)).toMatchObject({ erased: false });
    expect(await confirmed({ requests: [REQUEST, REQUEST] }, EVERYWHERE)).toMatchObject({ erased: true });
    const failed = await confirmed({ ...REQUEST, status: 'failed' }).catch((error: unknown) => error);
    expect(failed instanceof FailedResult && failed.content).toMatchObject({
      erased: false,
      status: 'failed',
    });
  });

  it('says that nothing was erased only where that is known', async () => {
    const said = async (plan: Plan): Promise<unknown> => {
      const made = planned(plan);
      return made.run('confirm_erasure', await prepared(made)).catch((error: Error) => error.message);
    };
    const refusal = new UnauthorizedError('No.', { status: 401, code: 'unauthorized' });
    const limited = new RateLimitedError('Later.', { status: 429, code: 'rate_limit_exceeded' });
    const lost = new NetworkError('Lost.', { code: 'network_error' });
    const known: readonly Plan[] = [{ forgets: refusal }, { forgets: limited, repeats: limited }];
    for (const plan of known) expect(await said(plan)).toContain('Nothing was erased');
    const details = { reason: 'deletion_in_progress' };
    const unknown: readonly Plan[] = [
      { forgets: lost },
      { forgets: refusal, repeats: lost },
      { forgets: new ConflictError('It runs.', { status: 409, code: 'conflict', details }) },
      { forgets: new LetheError('A broken answer.', { status: 200, code: 'unexpected_answer' }) },
    ];
    for (const plan of unknown) expect(await said(plan)).toContain('not known whether');
  });

  it('says what the service says of an erasure that did not end, with its id', async () => {
    const details = { request_id: 'r', status: 'processing' };
    const message = 'The erasure is on record';
    const plan = planned({
      forgets: new UnavailableError(message, { status: 503, code: 'service_unavailable', details }),
    });
    const failed = await plan.run('confirm_erasure', await prepared(plan)).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      message: expect.stringMatching(/answers 503: The erasure is on record \(request_id r\)$/) as string,
      mend: expect.stringContaining('erasure_status') as string,
    });
  });

  it.each([{}, { requests: [] }])(
    'says of an erasure in all guilds with the id of one that the others may not have begun: %j',
    async (done) => {
      const details = { request_id: 'r', status: 'processing', ...done };
      const plan = planned({
        forgets: new UnavailableError('On record', { status: 503, code: 'service_unavailable', details }),
      });
      const given = await prepared(plan, EVERYWHERE);
      expect(await plan.run('confirm_erasure', given).catch((error: unknown) => error)).toMatchObject({
        message: expect.stringContaining('request_id r') as string,
        mend: expect.stringMatching(/one guild alone.*call prepare_erasure again/) as string,
      });
    },
  );

  it('answers the guilds that were done before a failure, with their salts', async () => {
    const requests = [{ ...REQUEST, guild_id: WHO.guild_id, certificate_salt: 's' }];
    for (const forgets of [
      new ConflictError('Some guilds are done.', { status: 409, code: 'conflict', details: { requests } }),
      new UnavailableError('Some guilds are done.', {
        ...{ status: 503, code: 'service_unavailable', details: { requests } },
      }),
    ]) {
      const plan = planned({ forgets });
      const given = await prepared(plan, EVERYWHERE);
      const failed = await plan.run('confirm_erasure', given).catch((error: unknown) => error);
      expect(failed instanceof FailedResult && failed.content).toMatchObject({
        ...{ erased: false, user_id: WHO.user_id, requests },
        next_step: expect.stringContaining('certificate_salt') as string,
      });
    }
  });
});
