import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { preloading } from '../support/child-script';
import { answered, type Crashes, useCrashes } from '../support/crashes';
import { atDepth } from '../support/depth';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const receiver = useReceiver();
const pendingIn = (crashes: Crashes) => crashes.count(`webhook_deliveries WHERE status = 'pending'`);

/** Deadlines of the process that no machine is slow enough for: they are a hundred times as long. */
const FAR_DEADLINES = `
  const { setTimeout: original } = globalThis;
  const farther = (run, ms, ...given) => original(run, ms >= 5_000 ? ms * 100 : ms, ...given);
  globalThis.setTimeout = Object.setPrototypeOf(farther, original);
`;

describe('kill -9', () => {
  const crashes = useCrashes();

  it('in the midst of events and calls loses no acknowledged event, and repeats with the same id only', async () => {
    const bot = await Bot.register(crashes.url, { webhook_url: receiver.url });
    const acknowledged: string[] = [];
    for (let round = 0; round < atDepth(2, 8); round++) {
      const before = receiver.calls.length;
      const sent = await crashes.killed({
        callers: 4,
        next: subject,
        send: (who) => bot.post<{ request_id: string }>('/gdpr/forget-user', who),
        after: 3 + 5 * round,
        // Calls are running.
        once: () => receiver.calls.length > before,
        meanwhile: () => crashes.endLeases(),
      });
      acknowledged.push(...answered(sent).map(({ answer }) => answer.data.request_id));
    }
    await until(async () => (await pendingIn(crashes)) === 0);
    const idsOf = new Map<string, Set<unknown>>();
    for (const { body, headers } of receiver.calls) {
      const ids = idsOf.get(String(body['request_id'])) ?? new Set();
      idsOf.set(String(body['request_id']), ids.add(headers['webhook-id']));
    }
    for (const id of acknowledged) expect(idsOf.get(id)?.size).toBe(1);
    for (const id of acknowledged)
      expect((await bot.get(`/gdpr/forget-status/${id}`)).data['webhook_sent']).toBe(true);
  });
});

describe('SIGTERM', () => {
  const crashes = useCrashes(preloading(FAR_DEADLINES, useBuild().workingDirectory, 'far-deadlines'));

  it('lets running calls end, stores their results and exits with 0', async () => {
    const calls: ServerResponse[] = [];
    const slow = createServer((request, response) => calls.push(request.resume() && response));
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const { port } = slow.address() as AddressInfo;
    const bot = await Bot.register(crashes.url, { webhook_url: `http://127.0.0.1:${port}/` });
    const id = await bot.hasForgotten(subject());
    await until(() => calls.length === 1);
    const ending = crashes.terminate();
    // It is confirmed when the process takes no request any more.
    const isEnding = () =>
      fetch(`${crashes.url}/health/ready`).then(
        ({ ok }) => !ok,
        () => true,
      );
    await until(isEnding);
    calls[0]?.end();
    expect((await ending).code).toBe(0);
    expect([calls.length, await pendingIn(crashes)]).toEqual([1, 0]);
    await crashes.start();
    expect((await bot.get(`/gdpr/forget-status/${id}`)).data['webhook_sent']).toBe(true);
    slow.close();
  });
});
