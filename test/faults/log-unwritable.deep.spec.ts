import { closeSync, openSync } from 'node:fs';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { itAtNight } from '../support/depth';
import { useInstallation } from '../support/installation';
import { until } from '../support/until';

// The log of a process cannot be written: the service answers, memory is bounded, and the process ends in order.

const lethe = useInstallation({ build: useBuild() });
let service: ChildService;

function started(stdout: 'pipe' | number): Promise<ChildService> {
  service = lethe.child({ LOG_LEVEL: 'info' }, stdout);
  return service.start();
}

const health = async () =>
  (await (await fetch(`${service.url}/health/ready`)).json()) as { data: { status: string } };

async function dropped(): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^lethe_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}

/** Each answer is a line of the log, about 200 bytes. */
async function asks(bot: Bot, count: number): Promise<void> {
  for (let at = 0; at < count; at += 100)
    await Promise.all(Array.from({ length: 100 }, () => bot.get('/servers')));
}

(process.platform === 'linux' ? describe : describe.skip)('a process whose log', () => {
  it('is on a full disk answers, is degraded, and ends in order', async () => {
    const full = openSync('/dev/full', 'w');
    await started(full);
    closeSync(full);
    const bot = await Bot.register(service.url);
    await until(async () => (await health()).data.status === 'degraded');
    expect((await bot.get('/categories')).status).toBeLessThan(500);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });

  it('has lost its reader answers, is degraded, and ends in order', async () => {
    await started('pipe');
    service.endReader();
    const bot = await Bot.register(service.url);
    await until(async () => (await health()).data.status === 'degraded');
    expect((await bot.get('/categories')).status).toBeLessThan(500);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });

  it('is read by no one ends in order', async () => {
    await started('pipe');
    const bot = await Bot.register(service.url);
    // More than the socket of the parent takes.
    await asks(bot, 2_500);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });

  // How many lines wait before that is counted in logger.spec.ts.
  itAtNight('is read by no one counts the lines that it drops, and ends in order', async () => {
    await started('pipe');
    const bot = await Bot.register(service.url);
    while ((await dropped()) === 0) await asks(bot, 400);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });
});
