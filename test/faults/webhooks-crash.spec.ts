import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteDatabase } from '@app/database';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { useReceiver } from '../support/receiver';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';
import { directoryOnDisk } from '../support/disk';
import { atDepth } from '../support/depth';

const build = useBuild();
const receiver = useReceiver();
const directory = directoryOnDisk();
const path = join(directory, 'lethe.db');
let service: ChildService;

beforeAll(async () => {
  service = await new ChildService(build.directory, path, { WEBHOOK_TIMEOUT_MS: '60000' }).start();
});
afterAll(async () => {
  await service.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** Confirms when it is let go. */
class SlowReceiver {
  letGo: () => void = () => undefined;
  begun = 0;
  answered = 0;
  url: string;
  private readonly server = createServer((request, response) => {
    this.begun++;
    request.resume();
    this.letGo = () => {
      this.answered++;
      response.end();
    };
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
    return this;
  }

  stop(): void {
    this.server.close();
  }
}

function pending(): number {
  const database = new SqliteDatabase(path, { readonly: true });
  try {
    const row = database
      .prepare(`SELECT COUNT(*) AS n FROM webhook_deliveries WHERE status = 'pending'`)
      .get();
    return (row as { n: number }).n;
  } finally {
    database.close();
  }
}

/** Ends the leases of the calls that the killed service was making. */
function leasesEnd(): void {
  const database = new SqliteDatabase(path);
  const past = new Date(0).toISOString();
  database
    .prepare(
      `UPDATE webhook_deliveries SET locked_until = ?, next_attempt_at = ? WHERE locked_by IS NOT NULL`,
    )
    .run(past, past);
  database.close();
}

const isReady = () =>
  fetch(`${service.url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Erases subjects in a row until the service ends, and collects the acknowledged requests. */
async function forgetUntilCut(bot: Bot, acknowledged: Set<string>): Promise<void> {
  for (;;) {
    try {
      acknowledged.add(await bot.hasForgotten(subject()));
    } catch {
      return;
    }
  }
}

describe('kill -9', () => {
  it('in the midst of events and calls loses no acknowledged event, and repeats with the same id only', async () => {
    const bot = await Bot.register(service.url, { webhook_url: receiver.url });
    const acknowledged = new Set<string>();
    for (let round = 0; round < atDepth(2, 8); round++) {
      const before = acknowledged.size;
      const clients = Array.from({ length: 4 }, () => forgetUntilCut(bot, acknowledged));
      // Each time further requests are acknowledged, and calls are running.
      await until(() => acknowledged.size >= before + 3 + 5 * round, 1);
      await service.end('SIGKILL');
      await Promise.all(clients);
      leasesEnd();
      await service.start();
    }
    await until(() => pending() === 0);
    const idsOf = new Map<string, Set<unknown>>();
    for (const { body, headers } of receiver.calls) {
      const ids = idsOf.get(String(body['request_id'])) ?? new Set();
      idsOf.set(String(body['request_id']), ids.add(headers['webhook-id']));
    }
    for (const id of acknowledged) expect(idsOf.get(id)?.size).toBe(1);
    for (const id of acknowledged)
      expect((await bot.get(`/gdpr/forget-status/${id}`)).data['webhook_sent']).toBe(true);
  }, 120_000);
});

describe('SIGTERM', () => {
  it('lets running calls end, stores their results and exits with 0', async () => {
    const slow = await new SlowReceiver().start();
    const bot = await Bot.register(service.url, { webhook_url: slow.url });
    const id = await bot.hasForgotten(subject());
    await until(() => slow.begun === 1);
    const ending = service.end('SIGTERM');
    await until(async () => !(await isReady()));
    slow.letGo();
    expect((await ending).code).toBe(0);
    expect([slow.begun, slow.answered, pending()]).toEqual([1, 1, 0]);
    await service.start();
    expect((await bot.get(`/gdpr/forget-status/${id}`)).data['webhook_sent']).toBe(true);
    slow.stop();
  }, 90_000);
});
