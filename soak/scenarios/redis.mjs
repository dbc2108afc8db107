import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { median } from '../../bench/statistics.mjs';
import { freePort } from '../../scripts/free-port.mjs';
import { temporaryDirectory } from '../../scripts/server.mjs';
import { durations, newBot, statusOf, until } from '../bots.mjs';
import { Missing } from '../stage.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'redis';
export const shows = 'cost of a request while Redis is silent or slow, against Redis well and no Redis';
export const engines = ['sqlite'];

const BINARY = 'redis-server';
const TIMES = 200;
/** An answer of Redis has 50 ms (docs/operate.md). */
const SLOW_MS = 20;
const BOUND_MS = 50;
const WELL_TIMES = 4;
const SILENT_TIMES = 2;
const SLOW_SHARE = 2;
/** Without a bound the first request would wait for ever. */
const FIRST_TIMES = 10;
const DEGRADED = 'lethe_degraded{condition="rate_limit_local"}';

/** A Redis on a free port, as `port`. */
async function startRedis(stage) {
  if (spawnSync(BINARY, ['--version']).status !== 0) throw new Missing(`needs ${BINARY} on the PATH`);
  const port = await freePort();
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--dir',
    temporaryDirectory(),
  ];
  const child = spawn(BINARY, options, { stdio: ['ignore', 'pipe', 'ignore'] });
  process.on('exit', () => child.kill('SIGKILL'));
  stage.defer(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  await until(() => said.includes('Ready to accept connections'));
  return port;
}

/** Passes everything on to Redis; its answers only after `delayMs`, or never. */
async function startProxy(stage, port) {
  const proxy = { delayMs: 0, isSilent: false };
  const sockets = new Set();
  const server = createServer((socket) => {
    const redis = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [socket, redis],
      [redis, socket],
    ]) {
      sockets.add(one);
      one.on('error', () => undefined).on('close', () => other.destroy());
    }
    socket.on('data', (chunk) => redis.write(chunk));
    redis.on('data', (chunk) => {
      if (proxy.isSilent) return;
      if (proxy.delayMs === 0) socket.write(chunk);
      else setTimeout(() => socket.destroyed || socket.write(chunk), proxy.delayMs);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stage.defer(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return Object.assign(proxy, { url: `redis://127.0.0.1:${server.address().port}` });
}

export async function run(stage) {
  const proxy = await startProxy(stage, await startRedis(stage));
  const [alone, shared] = [await stage.service(), await stage.service({ REDIS_URL: proxy.url })];
  const [botAlone, bot] = [await newBot(alone.url), await newBot(shared.url)];
  const isWell = async () => (await shared.metric(DEGRADED)) === 0;
  const asks = (of, times = TIMES) => durations(times, () => statusOf(of));
  for (const of of [botAlone, bot]) await asks(of);
  const withoutMs = median(await asks(botAlone));
  const wellMs = median(await asks(bot));

  proxy.delayMs = SLOW_MS;
  const slowMs = median(await asks(bot));
  proxy.delayMs = 0;
  await until(isWell);
  await asks(bot, 20);

  proxy.isSilent = true;
  const [firstMs] = await asks(bot, 1);
  const silentMs = median(await asks(bot));
  const wasDegraded = !(await isWell());
  proxy.isSilent = false;
  await until(isWell);
  return [
    shown('without Redis, median', withoutMs, 'ms'),
    shown('Redis well, median', wellMs, 'ms'),
    atMost(WELL_TIMES, 'Redis well / without', wellMs / withoutMs),
    atMost(
      SLOW_SHARE,
      `Redis ${SLOW_MS} ms slow: what a request waits longer / ${SLOW_MS} ms`,
      (slowMs - wellMs) / SLOW_MS,
    ),
    shown('Redis silent, first request', firstMs, 'ms'),
    atMost(FIRST_TIMES, `Redis silent, first request / ${BOUND_MS} ms`, firstMs / BOUND_MS),
    atMost(SILENT_TIMES, 'Redis silent, further requests / Redis well', silentMs / wellMs),
    shown('Redis silent: the process counts alone', wasDegraded ? 1 : 0),
  ];
}
