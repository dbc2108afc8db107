import { Tracing } from '@app/tracing';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { Collector, type Manner } from '../support/collector';
import { freePort } from '../support/free-port';
import { Service } from '../support/service';
import { until } from '../support/until';
import { join } from 'node:path';
import { Bot } from '../support/bot';

// A collector that is away, refuses or hangs costs spans, and neither a request nor the end of the process.

const build = useBuild();

const LOST = /^lethe_trace_spans_lost_total (\d+)$/m;

async function lost({ url }: { readonly url: string }): Promise<number> {
  return Number(LOST.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
}

describe('with a collector that is gone, requests', () => {
  it('are answered, spans are counted as lost, and the log has one line until it is back', async () => {
    const port = await freePort();
    const service = new Service({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await service.start();
    const collector = new Collector();
    try {
      const bot = await service.registerBot();
      await until(async () => (await lost(service)) > 0);
      expect((await bot.get('/bots/me')).status).toBe(200);
      const before = await lost(service);
      await until(async () => {
        await bot.get('/bots/me');
        return (await lost(service)) > before;
      });
      const lines = (): string[] => service.logLines.filter((line) => line.includes('"context":"Traces"'));
      expect(lines()).toHaveLength(1);
      expect(lines()[0]).toContain('spans are dropped until it does');
      await collector.start(port);
      await until(async () => {
        await bot.get('/bots/me');
        return collector.spans.length > 0;
      }, 100);
      await until(() => lines().length === 2);
      expect(lines()[1]).toContain('takes traces again');
    } finally {
      await service.stop();
      await collector.stop();
    }
  });
});

describe('with a collector that', () => {
  it.each<Manner>(['refuses', 'hangs'])(
    '%s, requests and the end of the process wait for nothing',
    async (manner) => {
      const collector = await new Collector().start();
      collector.manner = manner;
      const process_ = new ChildService(build.directory, join(build.workingDirectory, `${manner}.db`), {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        LETHE_MASTER_KEY: Buffer.alloc(32, 'test').toString('base64'),
        RATE_LIMIT_TIERS: 'free=1000000',
      });
      await process_.start();
      const bot = await Bot.register(process_.url);
      await until(() => collector.bytes.length > 0);
      const answers = await Promise.all(Array.from({ length: 200 }, () => bot.get('/bots/me')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const begunMs = performance.now();
      const { code } = await process_.end('SIGTERM');
      expect(code).toBe(0);
      // Two seconds for the spans, within the ten seconds of a shutdown.
      expect(performance.now() - begunMs).toBeLessThan(8_000);
      await collector.stop();
    },
  );

  it('takes them, the last spans are sent before the process ends', async () => {
    const collector = await new Collector().start();
    const service = await new Service({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }).start();
    expect(service.app.get(Tracing).isOn).toBe(true);
    const bot = await service.registerBot();
    const answer = await bot.get('/bots/me');
    await service.stop();
    const ids = collector.spans.map(({ facts }) => facts['lethe.request.id']);
    expect(ids).toContain(answer.header('x-request-id'));
    await collector.stop();
  });
});
