import { Client } from 'pg';
import { Balancer } from '../support/balancer';
import { Bot, field } from '../support/bot';
import { useBuild } from '../support/build';
import type { ChildService } from '../support/child-service';
import { useFleet } from '../support/fleet';
import { Life } from '../support/lives';
import { useReceiver } from '../support/receiver';
import {
  OneRegionFrom1790000000011To1790000000012,
  RegionsFrom1763600000022To1790000000011,
} from '../support/rolling-release';
import { until } from '../support/until';

// A dozen processes start one after the other.
jest.setTimeout(300_000);

const file = 'rolling-release';
const [EXPAND, CONTRACT] = [
  RegionsFrom1763600000022To1790000000011.name,
  OneRegionFrom1790000000011To1790000000012.name,
];
const present = useBuild();
const next = useBuild({ file, migrations: [EXPAND] });
const afterNext = useBuild({ file, migrations: [EXPAND, CONTRACT] });
const fleet = useFleet(present);
const receiver = useReceiver();
const balancer = new Balancer();
beforeAll(() => balancer.start());
afterAll(() => balancer.stop());

/** Users at once. */
const LIVES = 8;
/** Answers in each state of the upgrade. */
const ANSWERS = 40;
/** After as many events another user takes the place of one: a page holds a hundred. */
const EVENTS = 80;

/** Lives that act until they are ended. A refusal or a cut connection ends them at once. */
class Load {
  readonly lives: Life[];
  private isOver = false;
  private readonly ended: Promise<unknown>;

  constructor(bots: readonly Bot[]) {
    this.lives = Array.from({ length: LIVES }, (_, at) => new Life(bots[at % bots.length] as Bot));
    this.ended = Promise.all(this.lives.map((life) => this.live(life)));
    // Reported by `end`.
    this.ended.catch(() => (this.isOver = true));
  }

  /** Resolves after so many further answers. */
  async serves(count = ANSWERS): Promise<void> {
    const before = balancer.answers;
    await until(() => this.isOver || balancer.answers >= before + count);
    if (this.isOver) await this.ended;
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async live(life: Life): Promise<void> {
    while (!this.isOver) {
      if (!(await life.act())) throw new Error('the connection was cut');
      if (life.known.events.length < EVENTS) continue;
      life = new Life(life.bot);
      this.lives.push(life);
    }
  }
}

async function replace(old: ChildService, by: ChildService): Promise<void> {
  balancer.add(by);
  await balancer.remove(old);
  expect(await old.end('SIGTERM')).toMatchObject({ code: 0 });
}

/** Holds a table as a long report does, while `work` begins; lets go when the migrations have met it and requests go on. */
async function heldBack<T>(load: Load, work: () => Promise<T>): Promise<T> {
  const reader = new Client({ connectionString: fleet.database.url });
  await reader.connect();
  await reader.query('BEGIN; SELECT COUNT(*) FROM user_data; SELECT COUNT(*) FROM servers');
  const begun = work();
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'lethe-schema' AND wait_event_type = 'Lock'`;
  await until(async () => (await fleet.database.rows(waiting)).length > 0, 5);
  await load.serves(3 * ANSWERS);
  await reader.query('COMMIT');
  await reader.end();
  return begun;
}

it('two releases serve together while one replaces the other: nothing is refused, and nothing that was answered is lost', async () => {
  const [one, two, worker] = await Promise.all([fleet.api(), fleet.api(), fleet.worker()]);
  for (const each of [one, two]) balancer.add(each);
  const bots = await Promise.all(
    [0, 1, 2].map(() => Bot.register(balancer.url, { webhook_url: receiver.url })),
  );
  for (const bot of bots) await bot.hasCategory('profile', [field('turn', 'number')]);
  const load = new Load(bots);
  await load.serves();

  // Expand: the first process of the next release migrates while the others serve.
  const nextOne = await heldBack(load, () => fleet.api({}, next));
  await load.serves();
  await replace(one, nextOne);
  // A process of the older release that ends in the middle starts again.
  const again = await fleet.api();
  balancer.add(again);
  const nextWorker = await fleet.worker({}, next);
  await load.serves();
  expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
  const nextTwo = await fleet.api({}, next);
  await replace(two, nextTwo);
  await replace(again, await fleet.api({}, next));
  await load.serves();

  // Contract: the release after it, beside those of the next one, when none of the oldest is left.
  const last = await heldBack(load, () => fleet.api({}, afterNext));
  await load.serves();
  await replace(nextOne, last);
  balancer.add(await fleet.api({}, next));
  await load.serves();
  expect(await fleet.refused()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `was written by a newer Lethe, or by one with another module (${CONTRACT}, ${EXPAND})`,
    ) as string,
  });
  await load.end();

  expect([...balancer.statuses.keys()].filter((status) => status >= 300)).toStrictEqual([]);
  for (const life of load.lives) expect(await life.differences()).toStrictEqual([]);
  const erasures = load.lives.flatMap((life) => life.erasures);
  expect(erasures.length).toBeGreaterThan(3);
  await until(async () => (await fleet.pending()) === 0);
  const told = new Set(receiver.calls.map(({ rawBody }) => /"request_id":"([^"]+)"/.exec(rawBody)?.[1]));
  expect(erasures.filter((id) => !told.has(id))).toStrictEqual([]);
  expect(await nextWorker.end('SIGTERM')).toMatchObject({ code: 0 });
});
