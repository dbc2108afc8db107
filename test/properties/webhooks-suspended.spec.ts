import { BotResumed } from '@app/bots';
import { WebhookEventsListener } from '@app/webhooks';
import { isDown } from './webhooks-sim/played-internet';
import { Process, World } from './webhooks-sim/world';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 1_440 * MINUTE;
const URL = 'http://receiver.test/hook';

let world: World;
let process: Process;
let botId: string;

beforeEach(async () => {
  world = await new World(1, { WEBHOOK_RETRY_SCHEDULE: '5s,1m,5m' }).open();
  process = new Process(world);
  await world.settle();
  botId = await world.registerBot(URL);
});
afterEach(() => world.end());

async function suspend(): Promise<void> {
  await world.run('UPDATE bots SET suspended_at = ? WHERE id = ?', world.timeline.nowIso(), botId);
}

async function resume(): Promise<void> {
  const sql = 'UPDATE bots SET suspended_at = NULL, resumed_at = ? WHERE id = ?';
  await world.run(sql, world.timeline.nowIso(), botId);
}

/** {@link resume} with the event that the dispatcher gets. */
async function resumeWithSignal(): Promise<void> {
  const listener = new WebhookEventsListener(process.outbox, process.dispatcher);
  await resume();
  await process.unitOfWork.write(async (tx) => {
    listener.onBotResumed(new BotResumed(tx, botId));
    await tx.get('SELECT 1');
  });
}

/** Longer than any schedule: the clock moves on, and the process looks for what is due. */
async function aMonthPasses(): Promise<void> {
  world.timeline.offsetMs += 30 * DAY;
  await world.play(20 * SECOND);
  await process.retain();
}

describe('the calls of a suspended bot', () => {
  it('wait for any time, without an attempt and without being given up, and are then sent', async () => {
    await suspend();
    await world.forget(process, botId);
    await aMonthPasses();
    expect(world.internet.contacts).toEqual([]);
    expect(await world.statuses()).toEqual({ pending: 1 });
    expect(await world.all('SELECT attempts, retries, locked_by FROM webhook_deliveries')).toEqual([
      { attempts: 0, retries: 0, locked_by: null },
    ]);
    await resume();
    await process.retain();
    await world.play(6 * SECOND);
    expect(await world.statuses()).toEqual({ delivered: 1 });
  });

  it('have their whole schedule from the end of the suspension on, and are then given up', async () => {
    world.internet.at(URL, isDown);
    await suspend();
    await world.forget(process, botId);
    await aMonthPasses();
    await resume();
    await world.play(5 * MINUTE);
    await process.retain();
    expect(await world.statuses()).toEqual({ pending: 1 });
    await world.play(5 * MINUTE);
    expect(await world.statuses()).toEqual({ exhausted: 1 });
    expect(world.internet.contacts).toHaveLength(4);
  });

  it('are given up by the retention once that schedule has passed too, and the receiver has failed since', async () => {
    const fails = () =>
      world.run('UPDATE webhook_health SET failures = 5, last_failed_at = ?', world.timeline.nowIso());
    world.internet.at(URL, isDown);
    await world.forget(process, botId);
    // Until the first attempt has failed.
    await world.play(12 * SECOND);
    await suspend();
    await aMonthPasses();
    await fails();
    await resume();
    // The process does not look for what is due in between.
    world.timeline.offsetMs += 30 * DAY;
    await process.retain();
    expect(await world.statuses()).toEqual({ pending: 1 });
    await fails();
    await process.retain();
    expect(await world.statuses()).toEqual({ exhausted: 1 });
  });

  it('are sent at the commit that ends the suspension, without the time moving', async () => {
    await suspend();
    await world.forget(process, botId);
    await world.play(7 * SECOND);
    await resumeWithSignal();
    await world.settle();
    expect(world.internet.contacts).toMatchObject([{ startMs: 7 * SECOND }]);
  });

  it('keep the step of their schedule', async () => {
    world.internet.at(URL, isDown);
    await world.forget(process, botId);
    await world.play(10 * SECOND);
    const before = world.internet.contacts.length;
    await suspend();
    await world.play(10 * MINUTE);
    expect(world.internet.contacts).toHaveLength(before);
    expect(await world.all('SELECT attempts, retries FROM webhook_deliveries')).toEqual([
      { attempts: before, retries: before },
    ]);
    await resume();
    await world.play(6 * SECOND);
    expect(world.internet.contacts).toHaveLength(before + 1);
  });

  it('hold up no other bot', async () => {
    await suspend();
    for (let count = 0; count < 50; count++) await world.forget(process, botId);
    const other = await world.registerBot('http://other.test/');
    await world.forget(process, other);
    await world.settle();
    expect(world.internet.contactsTo('http://other.test/')).toHaveLength(1);
  });
});
