import { type Lethe, type LetheCode, LetheError, NotFoundError } from '@lethe/sdk';
import { GuildWatch, WAITING_GUILDS_MAX } from './guild-watch';
import { reconcileGuilds } from './guilds';
import { GuildsInUse } from './http/guilds-in-use';

// What becomes of events that the service does not take, without a service and without time.

const DAY_MS = 86_400_000;

class Clock {
  readonly waits: { ms: number; run: () => void }[] = [];
  readonly later = (ms: number, run: () => void): (() => void) => {
    const wait = { ms, run };
    this.waits.push(wait);
    return () => void (this.waits.includes(wait) && this.waits.splice(this.waits.indexOf(wait), 1));
  };

  get pauses(): number[] {
    return this.waits.map(({ ms }) => ms);
  }

  /** Ends the oldest pause, and answers how long it was. */
  async passes(): Promise<number | undefined> {
    const wait = this.waits.shift();
    wait?.run();
    await settled();
    return wait?.ms;
  }
}

/** All that waits for no timer and no network is done. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A service of one bot, which can be away, or hold its answers. */
function standIn(guildsOfDiscord: readonly string[] = []) {
  const known = new Map<string, boolean>();
  const acts: string[] = [];
  const state = {
    isAway: false,
    hold: Promise.resolve(),
    refusal: undefined as LetheError | undefined,
    registered: '1',
  };
  const act = async (name: string, guild: string, isScheduled: boolean): Promise<void> => {
    if (state.isAway) throw new Error(`${name} ${guild}`);
    if (state.refusal !== undefined) throw state.refusal;
    acts.push(`${name} ${guild}`);
    await state.hold;
    known.set(guild, isScheduled);
  };
  const list = () =>
    [...known].map(([guild_id, is]) => ({ guild_id, deletion_scheduled_for: is ? '2026-12-01' : null }));
  const servers = {
    register: ({ guild_id: guild }: { guild_id: string }) => act('register', guild, false),
    delete: ({ guild_id: guild }: { guild_id: string }) => act('delete', guild, true),
    list: () => ({ toArray: async () => list() }),
  };
  const bots = {
    me: async () => {
      if (state.isAway) throw new Error('me');
      return { platform_bot_id: state.registered };
    },
  };
  /** As Discord lists the guilds: by their ids, after one of them. */
  const get = async (path: string): Promise<unknown> => {
    if (path === '/users/@me') return { id: '1' };
    if (path === '/oauth2/applications/@me') return { id: '2' };
    const query = new URLSearchParams(path.split('?')[1]);
    return guildsOfDiscord
      .map(Number)
      .sort((one, other) => one - other)
      .filter((id) => id > Number(query.get('after')))
      .slice(0, Number(query.get('limit')))
      .map((id) => ({ id: `${id}` }));
  };
  return { lethe: { servers, bots } as unknown as Lethe, known, acts, state, get };
}

function watching(guildsOfDiscord?: readonly string[]) {
  const service = standIn(guildsOfDiscord);
  const [clock, errors] = [new Clock(), [] as string[]];
  const report = (error: unknown): void => void errors.push((error as Error).message);
  const watch = new GuildWatch({ lethe: service.lethe, later: clock.later }, report);
  return { ...service, clock, errors, watch };
}

describe('an event of a guild', () => {
  it('is tried again with growing pauses until the service takes it, and each failure is reported once', async () => {
    const { watch, get, clock, errors, state, acts } = watching();
    watch.joined('4', get);
    await settled();
    state.isAway = true;
    watch.left('5', get);
    await settled();
    const pauses = [];
    for (let at = 0; at < 9; at++) pauses.push(await clock.passes());
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600].map((seconds) => seconds * 1000));
    state.isAway = false;
    await clock.passes();
    expect(acts).toEqual(['register 4', 'delete 5']);
    expect(errors).toEqual(Array.from({ length: 10 }, () => 'delete 5'));
    expect(clock.pauses).toEqual([]);
  });

  it('is replaced by a newer one, which is tried at once', async () => {
    const { watch, get, clock, state, acts } = watching();
    state.isAway = true;
    watch.left('5', get);
    await settled();
    state.isAway = false;
    watch.joined('5', get);
    await settled();
    expect([acts, clock.pauses]).toEqual([['register 5'], []]);
  });

  it('waits for the one before, and only the last of those that wait is carried out', async () => {
    const { watch, get, acts, state, known } = watching();
    let open = (): void => undefined;
    state.hold = new Promise((resolve) => (open = resolve));
    watch.left('5', get);
    await settled();
    watch.joined('5', get);
    watch.left('5', get);
    watch.joined('5', get);
    await settled();
    expect(acts).toEqual(['delete 5']);
    open();
    await settled();
    expect([acts, known.get('5')]).toEqual([['delete 5', 'register 5'], false]);
  });

  it.each([400, 401, 403])(
    'is given up after %s, which no repeat changes, and reported once',
    async (status) => {
      const { watch, get, clock, errors, state, acts } = watching();
      state.refusal = new LetheError('refused', { status, code: 'forbidden' as LetheCode });
      watch.left('5', get);
      await settled();
      state.refusal = undefined;
      watch.joined('6', get);
      await settled();
      expect([errors, clock.pauses, acts]).toEqual([['refused'], [], ['register 6']]);
    },
  );

  it('is given up where the key of Lethe is that of another bot, whose data it would act on', async () => {
    const { lethe, watch, get, clock, errors, state, acts } = watching(['6']);
    const other = 'The key of Lethe is that of bot 3, the token that of bot 1.';
    state.registered = '3';
    watch.left('5', get);
    watch.joined('6', get);
    await settled();
    expect([acts, errors, clock.pauses, watch['wishes'].size]).toEqual([[], [other, other], [], 0]);
    const report = (error: unknown): void => void errors.push((error as Error).message);
    const inUse = new GuildsInUse({ lethe }, get, report);
    for (let use = 0; use < 2; use++) await inUse.used('6');
    expect([acts, errors.length]).toEqual([[], 3]);
    state.registered = '1';
    watch.left('5', get);
    await settled();
    await new GuildsInUse({ lethe }, get, report).used('6');
    expect([acts, errors.length]).toEqual([['delete 5', 'register 6'], 3]);
  });

  it('asks once whose key it is, and again after a failure', async () => {
    const { lethe, watch, get, clock, state, acts } = watching();
    const me = jest.spyOn(lethe.bots, 'me');
    state.isAway = true;
    for (const guild of ['5', '6']) watch.left(guild, get);
    await settled();
    expect(me).toHaveBeenCalledTimes(1);
    state.isAway = false;
    while (clock.waits.length > 0) await clock.passes();
    watch.joined('5', get);
    await settled();
    expect([acts, me.mock.calls.length]).toEqual([['delete 5', 'delete 6', 'register 5'], 2]);
  });

  it('is done where the service knows neither the guild nor users of it', async () => {
    const { watch, get, clock, errors, state, acts } = watching();
    state.refusal = new NotFoundError('none', { status: 404, code: 'not_found' });
    watch.left('5', get);
    await settled();
    expect([errors, clock.pauses, acts]).toEqual([[], [], []]);
  });

  it('waits in a number that is bounded: the oldest gives way', async () => {
    const { watch, get, clock, state, acts } = watching();
    state.isAway = true;
    for (let at = 0; at <= WAITING_GUILDS_MAX; at++) watch.joined(`${at}`, get);
    await settled();
    expect(clock.waits).toHaveLength(WAITING_GUILDS_MAX);
    state.isAway = false;
    while (clock.waits.length > 0) await clock.passes();
    expect([acts.length, acts[0]]).toEqual([WAITING_GUILDS_MAX, 'register 1']);
  });

  it('ends with the client', async () => {
    const { watch, get, clock, state, acts } = watching();
    state.isAway = true;
    watch.left('5', get);
    watch.start(() => Promise.reject(new Error('no answer')));
    await settled();
    expect(clock.waits).toHaveLength(2);
    watch.stop();
    watch.left('6', get);
    await settled();
    watch.stop();
    expect([clock.pauses, acts]).toEqual([[], []]);
  });
});

describe('a comparison', () => {
  it('is made each day, and again after a failure', async () => {
    const { watch, clock, errors, state, acts, get } = watching(['5']);
    state.isAway = true;
    watch.start(() => watch.reconcile(get));
    await settled();
    expect([await clock.passes(), await clock.passes()]).toEqual([5_000, 10_000]);
    expect(errors).toEqual(['me', 'me', 'me']);
    state.isAway = false;
    await clock.passes();
    expect([acts, clock.pauses]).toEqual([['register 5'], [DAY_MS]]);
    await clock.passes();
    expect([acts.length, clock.pauses]).toEqual([1, [DAY_MS]]);
    // The bot is ready once more: one comparison a day is left.
    watch.start(() => watch.reconcile(get));
    await settled();
    expect(errors).toHaveLength(3);
    await clock.passes();
    await clock.passes();
    expect(clock.pauses).toEqual([DAY_MS]);
  });

  it('leaves a guild to the event that came meanwhile, or waits', async () => {
    const guilds = Array.from({ length: 13 }, (_, at) => `${10 + at}`);
    const { watch, clock, state, acts, known, get } = watching(guilds);
    known.set('5', false);
    state.isAway = true;
    watch.joined('5', get);
    await settled();
    state.isAway = false;
    const found = watch.reconcile(get);
    await settled();
    // The last one waits for the next minute.
    watch.left('22', get);
    await settled();
    expect(known.get('22')).toBe(true);
    while (clock.waits.length > 0) await clock.passes();
    expect(await found).toEqual({ left: [], joined: guilds.slice(0, 12) });
    expect([known.get('5'), known.get('22')]).toEqual([false, true]);
    expect(acts).not.toContain('delete 5');
  });

  it('asks Discord again before each act, since other processes of the bot have its events too', async () => {
    const ofDiscord = Array.from({ length: 13 }, (_, at) => `${10 + at}`);
    const { lethe, acts, known, get } = standIn(ofDiscord);
    for (let at = 30; at < 43; at++) known.set(`${at}`, false);
    const clock = new Clock();
    const found = reconcileGuilds({ lethe, later: clock.later, graceDays: 0 }, get);
    await settled();
    // While it waits the bot is added to one of the guilds that it had left, and leaves another.
    ofDiscord.splice(ofDiscord.indexOf('22'), 1, '42');
    while (clock.waits.length > 0) await clock.passes();
    const { left, joined } = await found;
    expect([left.length, joined.length, acts.length]).toEqual([12, 12, 24]);
    expect(acts).not.toContain('delete 42');
    expect(acts).not.toContain('register 22');
  });

  it.each(['stop', 'start'] as const)('ends with %s, within a pause and within an act', async (end) => {
    const ends = (watch: GuildWatch): void => (end === 'stop' ? watch.stop() : watch.start(async () => null));
    const paused = watching(Array.from({ length: 13 }, (_, at) => `${10 + at}`));
    const waiting = paused.watch.reconcile(paused.get);
    await settled();
    expect(paused.clock.pauses).toEqual([60_000]);
    ends(paused.watch);
    expect((await waiting).joined).toHaveLength(12);
    expect(paused.clock.pauses).toEqual(end === 'stop' ? [] : [DAY_MS]);

    const held = watching(['50', '51']);
    let open = (): void => undefined;
    held.state.hold = new Promise((resolve) => (open = resolve));
    const acting = held.watch.reconcile(held.get);
    await settled();
    ends(held.watch);
    open();
    expect([await acting, held.acts]).toEqual([{ left: [], joined: ['50'] }, ['register 50']]);
  });

  it.each([
    ['2', ['register 5'], []],
    ['3', [], ['The key of Lethe is that of bot 3, the token that of bot 1.']],
  ])(
    'is made for a bot that is registered by the id of its application, and not otherwise: %s',
    async (registered, done, failures) => {
      const { watch, errors, state, acts, get } = watching(['5']);
      state.registered = registered;
      watch.start(() => watch.reconcile(get));
      await settled();
      expect([acts, errors]).toEqual([done, failures]);
      watch.stop();
    },
  );

  it('takes less than half of the smallest limit of a minute', async () => {
    const { lethe, acts, get } = standIn(Array.from({ length: 30 }, (_, at) => `${at + 10}`));
    const clock = new Clock();
    const found = reconcileGuilds({ lethe, later: clock.later }, get);
    const counts = [];
    for (let minute = 0; minute < 3; minute++) {
      await settled();
      counts.push([acts.length, ...clock.pauses]);
      await clock.passes();
    }
    expect(counts).toEqual([[12, 60_000], [24, 60_000], [30]]);
    expect((await found).joined).toHaveLength(30);
    expect(await reconcileGuilds({ lethe, later: clock.later }, get)).toEqual({ joined: [], left: [] });
  });
});
