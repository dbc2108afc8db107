import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { until } from '../support/until';

const service = useServiceInProcess();
const receiver = useReceiver();

/** Servers that take calls and never answer. */
class Silent {
  open = 0;
  private readonly servers: readonly Server[];

  constructor(count: number) {
    this.servers = Array.from({ length: count }, () =>
      createServer((_, response) => {
        this.open++;
        response.once('close', () => this.open--);
      }),
    );
  }

  async start(): Promise<string[]> {
    for (const server of this.servers)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return this.servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  stop(): void {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}

describe.each([
  [1, 40],
  [200, 3],
])('%i receivers that take %i calls each and never answer', (count, calls) => {
  const silent = new Silent(count);
  afterAll(() => silent.stop());

  it('delay no other bot: forty receive their erasures while the calls to them are open', async () => {
    for (const url of await silent.start()) {
      const dead = await service.registerBot({ webhook_url: url });
      for (let n = 0; n < calls; n++) await dead.hasForgotten(subject());
    }
    await until(() => silent.open > 0);
    const bots = await Promise.all(
      Array.from({ length: 40 }, (_each, n) => service.registerBot({ webhook_url: `${receiver.url}?${n}` })),
    );
    const ids = await Promise.all(bots.map((bot) => bot.hasForgotten(subject())));
    await until(() => ids.every((id) => receiver.calls.some(({ body }) => body['request_id'] === id)));
    expect(silent.open).toBeGreaterThan(0);
  });
});
