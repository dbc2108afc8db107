import { NO_CLAIM } from '@app/acts';
import { databaseUnavailable } from '@app/database';
import { SETTINGS } from '@app/kernel';
import { Logger } from '@nestjs/common';
import { answers, confirms, isDown } from './webhooks-sim/played-internet';
import { Process, World } from './webhooks-sim/world';
import { atDepth } from '../support/depth';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const URL = 'http://receiver.test/hook';

let world: World;
let process: Process;

async function begin(seed = 1, environment: Record<string, string> = {}): Promise<void> {
  world = await new World(seed, environment).open();
  process = new Process(world);
  await world.settle();
}

afterEach(() => world.end());

describe('one delivery', () => {
  beforeEach(() => begin());

  it('is attempted at once, without the time moving', async () => {
    const botId = await world.registerBot(URL);
    const id = await world.forget(process, botId);
    await world.settle();
    expect(world.internet.contacts).toMatchObject([{ url: URL, id, startMs: 0 }]);
  });

  it('is attempted ten times over 80 hours by the schedule, then exhausted and visible, and can be sent again', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    process.dispatcher.pollMs = HOUR;
    const id = await world.forget(process, botId);
    await world.play(80 * HOUR);
    const starts = world.internet.contacts.map(({ startMs }) => startMs);
    const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? 0) - 10 * SECOND);
    const planned = [5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, DAY, DAY];
    expect(pauses).toHaveLength(planned.length);
    for (const [index, plan] of planned.entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(plan);
      expect(pauses[index]).toBeLessThanOrEqual(plan * 1.1 + SECOND);
    }
    expect(await world.statuses()).toEqual({ exhausted: 1 });
    world.internet.at(URL, confirms());
    await process.unitOfWork.write((tx) => process.outbox.resend(tx, botId, id));
    await world.play(10 * MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 1 });
    expect(world.internet.contacts.at(-1)?.id).toBe(id);
  });

  it('carries one id, body and GDPR signature through all attempts, and a fresh time in each', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(500));
    await world.forget(process, botId);
    await world.play(HOUR);
    const { contacts } = world.internet;
    expect(contacts.length).toBeGreaterThan(3);
    expect(
      new Set(contacts.map(({ id, body, headers }) => [id, body, headers['X-GDPR-Signature']].join())).size,
    ).toBe(1);
    expect(new Set(contacts.map(({ headers }) => headers['webhook-signature'])).size).toBe(contacts.length);
  });

  it('waits as long as Retry-After asks, where that is longer than planned', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(429, 10 * MINUTE));
    await world.forget(process, botId);
    await world.play(11 * MINUTE + 10 * SECOND);
    const [first, second] = world.internet.contacts;
    expect(second!.startMs - first!.startMs).toBeGreaterThanOrEqual(10 * MINUTE);
  });

  it('ends with 410, and comes to life with a new URL', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(410));
    process.dispatcher.pollMs = HOUR;
    await world.forget(process, botId);
    await world.play(DAY);
    expect(world.internet.contacts).toHaveLength(1);
    expect(await world.statuses()).toEqual({ gone: 1 });
    const elsewhere = 'http://elsewhere.test/';
    await process.unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET webhook_url = ? WHERE id = ?', elsewhere, botId);
      await process.outbox.follow(tx, botId);
    });
    await world.play(SECOND);
    expect(world.internet.contactsTo(elsewhere)).toHaveLength(1);
    expect(await world.statuses()).toEqual({ delivered: 1 });
  });

  it('is sent to a new URL also when the running call to the old one is answered 410', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, () => ({ ms: 5 * SECOND, result: { outcome: 'gone', status: 410 } }));
    await world.forget(process, botId);
    await world.play(SECOND);
    const elsewhere = 'http://elsewhere.test/';
    await process.unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET webhook_url = ? WHERE id = ?', elsewhere, botId);
      await process.outbox.follow(tx, botId);
    });
    await world.play(MINUTE);
    expect(world.internet.contacts.map(({ url }) => url)).toEqual([URL, elsewhere]);
    expect(await world.statuses()).toEqual({ delivered: 1 });
  });

  it('has no failure at a new URL by its call to the old one', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    await world.forget(process, botId);
    await world.play(SECOND);
    await process.unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET webhook_url = ? WHERE id = ?', 'http://new.test/', botId);
      await process.outbox.follow(tx, botId);
    });
    await world.play(11 * SECOND);
    expect(world.internet.contacts.map(({ outcome }) => outcome)).toEqual(['timed_out']);
    expect(await world.all('SELECT * FROM webhook_health')).toEqual([]);
  });

  it('has no state of a new URL by a confirmation of its call to the old one', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, confirms(5 * SECOND));
    await world.forget(process, botId);
    await world.play(SECOND);
    await process.unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET webhook_url = ? WHERE id = ?', 'http://new.test/', botId);
      await process.outbox.follow(tx, botId);
    });
    await world.play(6 * SECOND);
    expect(await world.statuses()).toEqual({ delivered: 1 });
    expect(await world.all('SELECT * FROM webhook_health')).toEqual([]);
  });

  it('is sent to the URL that the bot has at the attempt', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(500));
    await world.forget(process, botId);
    await world.settle();
    await world.run('UPDATE bots SET webhook_url = ? WHERE id = ?', 'http://new.test/', botId);
    await world.play(MINUTE);
    expect(world.internet.contacts.map(({ url }) => url)).toEqual([URL, 'http://new.test/']);
  });

  it('is cancelled where the URL went away unnoticed, not tried for ever', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(500));
    await world.forget(process, botId);
    await world.play(SECOND);
    await world.run('UPDATE bots SET webhook_url = NULL WHERE id = ?', botId);
    await world.play(MINUTE);
    expect(await world.statuses()).toEqual({ cancelled: 1 });
  });

  it('is removed with its bot, also during its call', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    await world.forget(process, botId);
    await world.settle();
    await world.run('DELETE FROM bots WHERE id = ?', botId);
    await world.play(HOUR);
    expect(await world.statuses()).toEqual({});
    expect(world.internet.contacts).toHaveLength(1);
  });

  it('is neither lost nor hurried when the clock is set forward or back', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(500));
    await world.forget(process, botId);
    await world.play(HOUR);
    const before = world.internet.contacts.length;
    world.timeline.offsetMs = -HOUR;
    await world.play(MINUTE);
    expect(world.internet.contacts.length).toBe(before);
    world.internet.at(URL, confirms());
    world.timeline.offsetMs = HOUR;
    await world.play(3 * HOUR);
    expect(await world.statuses()).toEqual({ delivered: 1 });
  });
});

describe('a rotated secret', () => {
  it('signs beside the old one until the overlap ends, then alone', async () => {
    await begin();
    const botId = await world.registerBot(URL);
    const headers = async (): Promise<string[]> => {
      await world.forget(process, botId);
      await world.play(SECOND);
      return Object.keys(world.internet.contacts.at(-1)!.headers);
    };
    const signature = (): string | undefined => world.internet.contacts.at(-1)?.headers['webhook-signature'];
    expect(await headers()).not.toContain('X-GDPR-Signature-Next');
    await process.secrets.rotate(botId, { overlap_seconds: 3600 }, NO_CLAIM);
    expect(await headers()).toContain('X-GDPR-Signature-Next');
    expect(signature()).toMatch(/^v1,\S+ v1,\S+ v1a,\S+$/);
    await world.play(HOUR);
    expect(await headers()).not.toContain('X-GDPR-Signature-Next');
    expect(signature()).toMatch(/^v1,\S+ v1a,\S+$/);
  });
});

describe('a receiver that is down', () => {
  beforeEach(() => begin());

  it('gets single probes, and its whole backlog once it is back', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    for (let i = 0; i < 200; i++) await world.forget(process, botId);
    await world.play(3 * HOUR);
    const whileDown = world.internet.contacts;
    expect(whileDown.length).toBeLessThan(5 + 2 + 30);
    for (const [index, { startMs }] of whileDown.entries())
      if (index >= 6) expect(startMs - whileDown[index - 1]!.startMs).toBeGreaterThanOrEqual(30 * SECOND);
    const before = whileDown.length;
    world.internet.at(URL, confirms());
    await world.play(11 * MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 200 });
    const [probe, following] = world.internet.contacts.slice(before);
    expect(following!.startMs).toBeGreaterThanOrEqual(probe!.endMs!);
  });

  /** A bot with a backlog of three calls. */
  async function downForHours(): Promise<string> {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    for (let i = 0; i < 3; i++) await world.forget(process, botId);
    await world.play(20 * HOUR);
    return botId;
  }

  it('gets its whole backlog once it is back also if the process was killed meanwhile', async () => {
    const botId = await downForHours();
    process.kill();
    process = new Process(world);
    world.internet.at(URL, confirms());
    await world.forget(process, botId);
    await world.play(MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 4 });
  });

  it('gets its whole backlog with the repeat of a confirmation that could not be stored', async () => {
    const botId = await downForHours();
    world.internet.at(URL, (call) => {
      process.unitOfWork.isRefusing = true;
      return confirms()(call);
    });
    await world.forget(process, botId);
    await world.play(SECOND);
    expect(world.internet.contacts.at(-1)).toMatchObject({ outcome: 'confirmed' });
    world.internet.at(URL, confirms());
    process.unitOfWork.isRefusing = false;
    await world.play(MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 4 });
  });

  it('gets it with that repeat also where another call has stored meanwhile that none fails', async () => {
    const botId = await downForHours();
    let fail = (): void => undefined;
    world.internet.at(URL, (call) => {
      world.internet.at(URL, confirms());
      process.unitOfWork.nextWrite = new Promise((_, reject) => (fail = () => reject(databaseUnavailable())));
      return confirms()(call);
    });
    for (let i = 0; i < 2; i++) await world.forget(process, botId);
    await world.play(SECOND);
    expect(await world.statuses()).toEqual({ delivered: 1, pending: 4 });
    fail();
    await world.play(MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 5 });
  });

  it('gets its backlog with its first confirmation, not with a refusal before it', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(503));
    for (let i = 0; i < 3; i++) await world.forget(process, botId);
    await world.play(20 * HOUR);
    const before = world.internet.contacts.length;
    world.internet.at(URL, answers(404));
    await world.forget(process, botId);
    await world.play(SECOND);
    expect(world.internet.contacts).toHaveLength(before + 1);
    world.internet.at(URL, confirms());
    await world.forget(process, botId);
    await world.play(MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 5 });
  });

  it('that refuses one kind of event is not asked for it again with each call that it confirms', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, (call) => (call.body.includes('bad') ? answers(422) : confirms())(call));
    const queue = (payload: string) =>
      process.unitOfWork.write((tx) =>
        process.outbox.queue(tx, { botId, event: 'consent_revoked', payload }),
      );
    for (let i = 0; i < 3; i++) await queue('{"bad":1}');
    await world.play(40 * MINUTE);
    const before = world.internet.contacts.length;
    await queue('{"good":1}');
    await world.play(SECOND);
    expect(world.internet.contacts).toHaveLength(before + 1);
  });

  it('that refuses five events was not down: one that it fails for keeps its schedule', async () => {
    const botId = await world.registerBot(URL);
    const kinds = { slow: 500, bad: 422 } as const;
    world.internet.at(URL, (call) => {
      const kind = (['slow', 'bad'] as const).find((each) => call.body.includes(each));
      return (kind === undefined ? confirms() : answers(kinds[kind]))(call);
    });
    const queue = (kind: string) =>
      process.unitOfWork.write((tx) =>
        process.outbox.queue(tx, { botId, event: 'consent_revoked', payload: JSON.stringify({ kind }) }),
      );
    await queue('slow');
    await world.play(70 * SECOND);
    const contacts = () => world.internet.contacts.filter(({ body }) => body.includes('slow')).length;
    const before = contacts();
    for (let i = 0; i < 5; i++) await queue('bad');
    await world.play(SECOND);
    await queue('good');
    await world.play(SECOND);
    expect(await world.statuses()).toEqual({ delivered: 1, pending: 6 });
    expect(contacts()).toBe(before);
  });

  it('does not delay deliveries to a new URL: they are sent at once', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, answers(500));
    for (let i = 0; i < 20; i++) await world.forget(process, botId);
    await world.play(15 * SECOND);
    const before = world.internet.contacts.length;
    await process.unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET webhook_url = ? WHERE id = ?', 'http://new.test/', botId);
      await process.outbox.follow(tx, botId);
    });
    await world.settle();
    expect(world.internet.contacts.slice(before).map(({ url }) => url)).toEqual([
      'http://new.test/',
      'http://new.test/',
    ]);
    await world.play(SECOND);
    expect(await world.statuses()).toEqual({ delivered: 20 });
  });

  it('delays no other bot: of 100 bots, 99 receive theirs within two seconds', async () => {
    const bots: string[] = [];
    for (let i = 0; i < 100; i++) bots.push(await world.registerBot(`http://bot-${i}.test/`));
    world.internet.at('http://bot-0.test/', isDown);
    for (let i = 0; i < 100; i++) await world.forget(process, bots[0]!);
    for (const bot of bots) for (let i = 0; i < 3; i++) await world.forget(process, bot);
    const startMs = world.timeline.monotonicMs();
    await world.play(2 * SECOND);
    for (let i = 1; i < 100; i++) {
      const heard = world.internet.contactsTo(`http://bot-${i}.test/`);
      expect(heard.map(({ outcome }) => outcome)).toEqual(['confirmed', 'confirmed', 'confirmed']);
      expect(heard.at(-1)!.endMs! - startMs).toBeLessThan(2 * SECOND);
    }
  });

  it('cannot be shut off for a bot by another one that names the same URL', async () => {
    const [attacker, victim] = [await world.registerBot(URL), await world.registerBot(URL)];
    world.internet.at(URL, answers(500));
    for (let i = 0; i < 20; i++) await world.forget(process, attacker);
    await world.play(20 * SECOND);
    world.internet.at(URL, confirms());
    await world.forget(process, victim);
    await world.play(SECOND);
    expect(await world.all('SELECT status FROM webhook_deliveries WHERE bot_id = ?', victim)).toEqual([
      { status: 'delivered' },
    ]);
  });

  it('is not paused for refusing single events: the others pass', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, (call) => (call.body.includes('bad') ? answers(422) : confirms())(call));
    const queue = (payload: string) =>
      process.unitOfWork.write((tx) =>
        process.outbox.queue(tx, { botId, event: 'consent_revoked', payload }),
      );
    for (let i = 0; i < 20; i++) await queue('{"bad":1}');
    await world.play(10 * SECOND);
    await queue('{"good":1}');
    await world.play(SECOND);
    expect((await world.statuses())['delivered']).toBe(1);
  });

  it('gives up what it could not even be offered in time, visibly', async () => {
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    process.dispatcher.pollMs = HOUR;
    const count = atDepth(500, 2_000);
    for (let i = 0; i < count; i++) await world.forget(process, botId);
    await world.play(5 * DAY);
    await process.retain();
    expect(await world.statuses()).toEqual({ exhausted: count });
  });
});

describe('a bot whose secret cannot be decrypted', () => {
  it('waits, delays no other bot, and is sent to once the key is back', async () => {
    await begin();
    const [broken, other] = [await world.registerBot(URL), await world.registerBot('http://other.test/')];
    const [sealed] = await world.all<{ webhook_secret: string }>(
      'SELECT webhook_secret FROM bots WHERE id = ?',
      broken,
    );
    await world.run(`UPDATE bots SET webhook_secret = 'v1.unknown.key' WHERE id = ?`, broken);
    const said = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    for (const botId of [broken, broken, other]) await world.forget(process, botId);
    // The process looks for due calls every five seconds.
    await world.play(30 * SECOND);
    expect(said).toHaveBeenCalledTimes(1);
    await world.play(10 * MINUTE);
    expect(said).toHaveBeenCalledTimes(11);
    said.mockRestore();
    expect(world.internet.contacts.map(({ url }) => url)).toEqual(['http://other.test/']);
    await world.run('UPDATE bots SET webhook_secret = ? WHERE id = ?', sealed!.webhook_secret, broken);
    await world.play(2 * MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 3 });
  });
});

describe('limits', () => {
  it('hold: two calls at once to a host, 32 in all, and every bot gets its turn', async () => {
    await begin();
    let worst = { url: 0, all: 0 };
    process.sender.onResult = ({ url }) => {
      worst = {
        url: Math.max(worst.url, world.internet.openTo(url) + 1),
        all: Math.max(worst.all, world.internet.openTo() + 1),
      };
    };
    const bots: string[] = [];
    for (let i = 0; i < 50; i++) bots.push(await world.registerBot(`http://bot-${i}.test/`));
    for (let i = 0; i < 50; i++) world.internet.at(`http://bot-${i}.test/`, confirms(100));
    for (const bot of bots) for (let i = 0; i < 10; i++) await world.forget(process, bot);
    await world.play(300);
    for (let i = 0; i < 50; i++)
      expect(world.internet.contactsTo(`http://bot-${i}.test/`).length).toBeGreaterThan(0);
    await world.play(10 * SECOND);
    expect(await world.statuses()).toEqual({ delivered: 500 });
    expect(worst).toEqual({ url: 2, all: 32 });
  });

  it('count bots together that name the same host: new ones get three quarters of its eight', async () => {
    await begin();
    for (let i = 0; i < 10; i++) await world.forget(process, await world.registerBot(`${URL}?bot=${i}`));
    await world.settle();
    expect(world.internet.openTo()).toBe(6);
    await world.play(SECOND);
    expect(await world.statuses()).toEqual({ delivered: 10 });
  });

  it('let no bot wait for four others of its host whose calls hang', async () => {
    await begin();
    for (let i = 0; i < 4; i++) {
      world.internet.at(`${URL}?hangs=${i}`, confirms(9.5 * SECOND));
      await world.forget(process, await world.registerBot(`${URL}?hangs=${i}`));
    }
    await world.play(2 * SECOND);
    await world.forget(process, await world.registerBot(`${URL}?well`));
    await world.play(250);
    expect(await world.statuses()).toEqual({ pending: 4, delivered: 1 });
  });
});

describe('200 receivers that confirm after 9.5 seconds', () => {
  const SLOW = 200;
  /** Erasures of a quick receiver, ten a second. */
  const ERASURES = atDepth(200, 600);
  const innocentUrl = 'http://innocent.test/hook';

  async function addSlow(): Promise<void> {
    for (let i = 0; i < SLOW; i++) {
      const url = `http://slow-${i}.test/hook`;
      world.internet.at(url, confirms(9.5 * SECOND));
      const botId = await world.registerBot(url);
      for (let n = 0; n < atDepth(5, 20); n++) await world.forget(process, botId);
    }
  }

  /** The longest wait of an erasure's call to a quick receiver, with an erasure every 100 ms. */
  async function longestWaitMs(botId: string): Promise<number> {
    const before = world.internet.contactsTo(innocentUrl).length;
    const begunMs: number[] = [];
    for (let n = 0; n < ERASURES; n++) {
      begunMs.push(world.timeline.monotonicMs());
      await world.forget(process, botId);
      await world.play(100);
    }
    const heard = world.internet.contactsTo(innocentUrl).slice(before);
    expect(heard).toHaveLength(ERASURES);
    return Math.max(...heard.map(({ endMs = Infinity }, at) => endMs - begunMs[at]!));
  }

  it('delay no quick receiver, from their first calls on', async () => {
    await begin();
    const botId = await world.registerBot(innocentUrl);
    await world.forget(process, botId);
    await world.play(SECOND);
    await addSlow();
    expect(await longestWaitMs(botId)).toBeLessThan(250);
  });

  it('delay no receiver without an answer yet, once they were called, and are called in turn, one call each', async () => {
    await begin();
    await addSlow();
    await world.play(atDepth(3, 8) * MINUTE);
    expect(new Set(world.internet.contacts.map(({ url }) => url)).size).toBe(SLOW);
    let worst = 0;
    process.sender.onSend = ({ url }) =>
      (worst = Math.max(worst, url === innocentUrl ? 0 : world.internet.openTo(url) + 1));
    const calls = world.internet.contacts.length;
    expect(await longestWaitMs(await world.registerBot(innocentUrl))).toBeLessThan(250);
    expect(worst).toBe(1);
    expect(world.internet.contacts.length - calls).toBeGreaterThan(ERASURES + (80 / 600) * ERASURES);
    const slow = world.internet.contacts.slice(calls).filter(({ url }) => url !== innocentUrl);
    const counts = slow.map(({ url }) => slow.filter((other) => other.url === url).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });
});

describe('two processes on one database', () => {
  it('send each event exactly once while nothing fails', async () => {
    await begin();
    const other = new Process(world);
    const bots = await Promise.all(
      Array.from({ length: 20 }, (_, i) => world.registerBot(`http://bot-${i}.test/`)),
    );
    const count = atDepth(300, 1_000);
    for (let i = 0; i < count; i++) await world.forget(i % 2 === 0 ? process : other, bots[i % 20]!);
    await world.play(30 * SECOND);
    expect(await world.statuses()).toEqual({ delivered: count });
    expect(world.internet.contacts).toHaveLength(count);
  });

  it('take over from each other: a lease of a dead process ends, the attempt is counted', async () => {
    await begin();
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    // It hears of the event by its polls alone.
    const other = new Process(world);
    await world.settle();
    const id = await world.forget(process, botId);
    await world.settle();
    process.kill();
    world.internet.at(URL, confirms());
    await world.play(14 * SECOND);
    expect(world.internet.contacts).toHaveLength(1);
    await world.play(10 * SECOND);
    expect(world.internet.contacts.map((contact) => contact.id)).toEqual([id, id]);
    expect(await world.all('SELECT status, attempts FROM webhook_deliveries')).toEqual([
      { status: 'delivered', attempts: 2 },
    ]);
    other.kill();
  });

  it('repeat with the same id what was confirmed to a process that died before it could write it down', async () => {
    await begin();
    const botId = await world.registerBot(URL);
    const id = await world.forget(process, botId);
    process.sender.onResult = () => process.kill();
    await world.play(SECOND);
    expect(await world.all('SELECT webhook_sent FROM deletion_requests')).toEqual([{ webhook_sent: 0 }]);
    new Process(world);
    await world.play(MINUTE);
    expect(world.internet.contacts.map((contact) => [contact.id, contact.outcome])).toEqual([
      [id, 'confirmed'],
      [id, 'confirmed'],
    ]);
    expect(await world.all('SELECT webhook_sent FROM deletion_requests')).toEqual([{ webhook_sent: 1 }]);
  });
});

describe('a shutdown', () => {
  it('lets calls end, claims nothing more and leaves no lease behind', async () => {
    await begin(1, { SHUTDOWN_TIMEOUT_MS: '600000' });
    // The calls last as long as the test plays, and the limit is one of the machine.
    process.dispatcher.drainMaxMs = 600_000;
    const botId = await world.registerBot(URL);
    world.internet.at(URL, confirms(500));
    for (let i = 0; i < 5; i++) await world.forget(process, botId);
    await world.settle();
    const stopped = process.dispatcher.beforeApplicationShutdown();
    await world.play(SECOND);
    await stopped;
    expect(world.internet.contacts).toHaveLength(2);
    expect(await world.statuses()).toEqual({ delivered: 2, pending: 3 });
    expect(await world.all('SELECT id FROM webhook_deliveries WHERE locked_by IS NOT NULL')).toEqual([]);
  });

  it('gives calls no longer than SHUTDOWN_TIMEOUT_MS says', async () => {
    await begin();
    const most = process.dispatcher.drainMaxMs.toLocaleString('en');
    expect(SETTINGS.shutdownTimeoutMs.description).toContain(`webhook calls, which have at most ${most}`);
  });

  it('gives back the leases of calls that do not end in time', async () => {
    await begin(1, { SHUTDOWN_TIMEOUT_MS: '50' });
    const botId = await world.registerBot(URL);
    world.internet.at(URL, isDown);
    await world.forget(process, botId);
    await world.settle();
    await process.dispatcher.beforeApplicationShutdown();
    expect(await world.all('SELECT status, retries, locked_by FROM webhook_deliveries')).toEqual([
      { status: 'pending', retries: 0, locked_by: null },
    ]);
    world.internet.at(URL, confirms());
    new Process(world);
    await world.play(SECOND);
    expect(await world.statuses()).toEqual({ delivered: 1 });
  });
});

describe('a database that refuses to write', () => {
  it('holds calls up and loses none: what it could not record is repeated with the same id', async () => {
    await begin();
    const bots = [await world.registerBot(URL), await world.registerBot('http://other.test/')];
    world.internet.at(URL, confirms(5_000));
    const first = await world.forget(process, bots[0]!);
    const second = await world.forget(process, bots[1]!);
    await world.settle();
    process.unitOfWork.isRefusing = true;
    await world.play(10 * MINUTE);
    expect(await world.statuses()).toEqual({ pending: 2 });
    process.unitOfWork.isRefusing = false;
    await world.play(MINUTE);
    expect(await world.statuses()).toEqual({ delivered: 2 });
    expect(new Set(world.internet.contacts.map(({ id }) => id))).toEqual(new Set([first, second]));
    expect(world.internet.contacts).toHaveLength(4);
  });
});

describe('records', () => {
  it('leave 30 days after their end, attempts too, and not before', async () => {
    await begin();
    const botId = await world.registerBot(URL);
    for (let i = 0; i < 600; i++) await world.forget(process, botId);
    await world.play(MINUTE);
    world.timeline.offsetMs = 29 * DAY;
    await process.retain();
    expect(await world.statuses()).toEqual({ delivered: 600 });
    world.internet.at(URL, isDown);
    await world.forget(process, botId);
    await world.settle();
    world.timeline.offsetMs = 31 * DAY;
    await process.retain();
    expect(await world.statuses()).toEqual({ pending: 1 });
    expect(await world.all('SELECT number FROM webhook_attempts')).toEqual([]);
  });

  it('count their days from the end, however old the event is', async () => {
    await begin();
    const botId = await world.registerBot(URL);
    const id = await world.forget(process, botId);
    await world.play(SECOND);
    world.timeline.offsetMs = 29 * DAY;
    await process.unitOfWork.write((tx) => process.outbox.resend(tx, botId, id));
    await world.play(SECOND);
    world.timeline.offsetMs = 58 * DAY;
    await process.retain();
    expect(await world.statuses()).toEqual({ delivered: 1 });
    world.timeline.offsetMs = 60 * DAY;
    await process.retain();
    expect(await world.statuses()).toEqual({});
  });
});

describe('chaos', () => {
  const seeds = Array.from({ length: atDepth(2, 12) }, (_, i) => i + 1);
  const urls = Array.from({ length: 8 }, (_, i) => `http://bot-${i}.test/`);
  const behaviours = [
    confirms(),
    confirms(5_000),
    isDown,
    answers(500),
    answers(429, MINUTE),
    answers(404),
    answers(410),
  ];

  /** Leases are times: a clock that is set forward ends the leases of running calls. */
  let clockSetAtMs: number;
  let alive: Process[];
  let bots: string[];
  let faults: string[];
  let expected: Set<string>;

  function start(): Process {
    const started = new Process(world);
    const { sender } = started;
    sender.onSend = ({ url, headers }) => {
      const { internet } = world;
      if (internet.isOpen(headers['webhook-id']!, clockSetAtMs))
        faults.push('two attempts of one delivery at once');
      if (internet.openTo(url, sender) >= 2) faults.push('more than two calls to one URL at once');
      if (internet.openTo(undefined, sender) >= 32) faults.push('more than 32 calls at once');
    };
    return started;
  }

  async function setUrl(index: number, url: string | null): Promise<void> {
    const [{ unitOfWork, outbox }] = alive as [Process];
    const botId = bots[index]!;
    await unitOfWork.write(async (tx) => {
      await tx.run('UPDATE bots SET webhook_url = ? WHERE id = ?', url, botId);
      await outbox.follow(tx, botId);
    });
  }

  /** One step: mostly an event, else a changed receiver, an added or removed URL, or a killed process. */
  async function happen(): Promise<void> {
    const { random, internet, timeline } = world;
    const index = random.below(urls.length);
    const chance = random.below(20);
    if (chance < 11) expected.add(await world.forget(alive[random.below(2)]!, bots[index]!));
    else if (chance < 15) internet.at(urls[index]!, behaviours[random.below(behaviours.length)]!);
    else if (chance < 17) await setUrl(index, chance === 15 ? null : urls[index]!);
    else if (chance === 17) {
      timeline.offsetMs += random.below(2 * HOUR) - HOUR;
      clockSetAtMs = timeline.monotonicMs();
    } else {
      const victim = alive.splice(random.below(2), 1)[0]!;
      victim.kill();
      alive.push(start());
    }
  }

  it.each(seeds)(
    'of seed %d loses nothing: every event is there, and confirmed once its receiver is well',
    async (seed) => {
      await begin(seed);
      [faults, expected, clockSetAtMs] = [[], new Set(), -Infinity];
      process.kill();
      alive = [start(), start()];
      bots = [];
      for (const url of urls) bots.push(await world.registerBot(url));
      for (let step = 0; step < 150; step++) {
        await happen();
        await world.play(world.random.below(4 * MINUTE));
      }
      for (const [index, url] of urls.entries()) {
        world.internet.at(url, confirms());
        await setUrl(index, url);
      }
      await world.play(HOUR);
      for (const { dispatcher } of alive) dispatcher.pollMs = HOUR;
      await world.play(11 * HOUR);
      const rows = await world.all<{ id: string; status: string }>(
        'SELECT id, status FROM webhook_deliveries',
      );
      expect(new Set(rows.map(({ id }) => id))).toEqual(expected);
      expect(rows.filter(({ status }) => status !== 'delivered')).toEqual([]);
      expect(rows.filter(({ id }) => !world.internet.hasConfirmed(id))).toEqual([]);
      expect(await world.all('SELECT id FROM deletion_requests WHERE webhook_sent = 0')).toEqual([]);
      expect(faults).toEqual([]);
    },
  );
});
