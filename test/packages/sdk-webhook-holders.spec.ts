import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookHandler, Lethe } from '@lethe/sdk';
import { type HolderLoop, type HolderOptions, runHolder, type Store } from '@lethe/sdk/holders';
import type { Bot } from '../support/bot';
import { FakeHolders } from '../support/fake-holders';
import { useService } from '../support/shared-service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const NO_TIMERS = { set: () => undefined, clear: () => undefined };
let errors: unknown[];
beforeEach(() => (errors = []) && undefined);

/** A store that is clear once it was erased. */
function storeOf(erased: (task: { readonly user_id: string }) => unknown = () => undefined): Store {
  let rows = 1;
  return {
    name: 'rows',
    count: async () => rows,
    erase: async (task) => {
      await erased(task);
      rows = 0;
    },
  };
}
const run = (lethe: Lethe, options: Partial<HolderOptions>): HolderLoop =>
  runHolder(lethe, {
    ...{ key: 'database', stores: [storeOf()], timers: NO_TIMERS, onError: (error) => errors.push(error) },
    ...options,
  });

describe('a holder of the kind webhook', () => {
  const service = useService();
  let server: Server;
  let bot: Bot;
  let loop: HolderLoop;

  beforeEach(async () => {
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    bot = await service.registerBot({ webhook_url: `http://127.0.0.1:${port}/` });
    const on = { holder_task: () => loop.wake() };
    const { node } = createWebhookHandler({ secrets: bot.webhookSecret, on });
    server.on('request', (request, response) => void node(request, response));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('erases as soon as it is called, between two rounds, and answers', async () => {
    const erased: string[] = [];
    const stores = [storeOf(({ user_id }) => erased.push(user_id))];
    const lethe = new Lethe({ url: service.url, key: bot.key });
    loop = run(lethe, { kind: 'webhook', stores });
    await loop.once();
    expect((await lethe.holders.get('database')).kind).toBe('webhook');
    const who = subject();
    const id = await bot.hasForgotten(who);
    await until(async () => (await lethe.privacy.status(id)).coverage?.complete === true);
    expect([erased, errors]).toEqual([[who.user_id], []]);
    await loop.stop();
  });

  it('becomes one where it was declared as pull, and stays one where the loop names no kind', async () => {
    const lethe = new Lethe({ url: service.url, key: bot.key });
    const kinds: unknown[] = [];
    for (const kind of [undefined, 'webhook', undefined, 'pull'] as const) {
      await run(lethe, kind === undefined ? {} : { kind }).once();
      kinds.push((await lethe.holders.get('database')).kind);
    }
    expect(kinds).toEqual(['pull', 'webhook', 'webhook', 'pull']);
  });
});

describe('wake', () => {
  it('during a round begins one after it, which does what came meanwhile, once for several calls', async () => {
    const fake = await new FakeHolders().start();
    const lethe = fake.client();
    const forget = () => lethe.privacy.forget(subject());
    let isFirst = true;
    const loop = run(lethe, {
      stores: [
        storeOf(async () => {
          if (!isFirst) return;
          isFirst = false;
          // It is in no page that this round reads.
          await forget();
          for (let count = 0; count < 3; count++) loop.wake();
        }),
      ],
    });
    await forget();
    await loop.once();
    expect(fake.tasks.map(({ result }) => result)).toEqual(['erased', null]);
    await until(() => fake.tasks[1]?.result === 'nothing');
    await loop.stop();
    const rounds = fake.calls.filter((call) => call === 'GET /holders/{key}/tasks');
    expect([rounds.length, errors]).toEqual([2, []]);
  });

  it('reports what fails, and ends no process', async () => {
    // Of a backoff, which is then no wait.
    const random = jest.spyOn(Math, 'random').mockReturnValue(0);
    const fake = await new FakeHolders().start();
    const loop = run(fake.client(), {});
    await loop.once();
    fake.refused.set('GET /holders/{key}/tasks', 503);
    loop.wake();
    await until(() => errors.length > 0);
    await loop.stop();
    loop.wake();
    random.mockRestore();
    expect(errors).toHaveLength(1);
  });
});
