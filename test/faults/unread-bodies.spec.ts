import { connect, type Socket } from 'node:net';
import { PREFIX } from '../support/client';
import { useServiceInProcess } from '../support/service';

const LIMIT = 5;
const BODY = 200_000;
const service = useServiceInProcess({ RATE_LIMIT_ANONYMOUS: '40', RATE_LIMIT_TIERS: `free=${LIMIT}` });

/** The status of the answer to a request of which half the body is sent; undefined while the service waits for more. */
function statusBeforeTheEnd(path: string, headers: readonly string[] = []): Promise<number | undefined> {
  const text = [
    `POST ${path} HTTP/1.1`,
    ...['Host: localhost', 'Content-Type: application/json', `Content-Length: ${BODY}`, ...headers],
    '',
    ' '.repeat(BODY / 2),
  ].join('\r\n');
  return new Promise((resolve) => {
    const socket: Socket = connect(service.port, '127.0.0.1', () => socket.write(text));
    const waits = setTimeout(() => settle(undefined), 1_500);
    const settle = (status: number | undefined): void => {
      clearTimeout(waits);
      socket.destroy();
      resolve(status);
    };
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => settle(Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1])));
  });
}

describe('a long body', () => {
  it('is not waited for without a key where the route needs one, or on an unknown path', async () => {
    expect(await statusBeforeTheEnd(`${PREFIX}/data/submit`)).toBe(401);
    expect(await statusBeforeTheEnd(`${PREFIX}/data/submit`, ['Authorization: Bearer sk_live_x'])).toBe(401);
    expect(await statusBeforeTheEnd('/nothing')).toBe(404);
  });

  it('is not waited for of a bot that is over its limit', async () => {
    const bot = await service.registerBot();
    const key = [`Authorization: Bearer ${bot.key}`];
    expect(await statusBeforeTheEnd(`${PREFIX}/data/submit`, key)).toBeUndefined();
    for (let count = 0; count < LIMIT; count++) await bot.get('/servers');
    expect(await statusBeforeTheEnd(`${PREFIX}/data/submit`, key)).toBe(429);
  });

  it('is not waited for of an address that is over its limit, also for a registration', async () => {
    expect(await statusBeforeTheEnd(`${PREFIX}/bots/register`)).toBeUndefined();
    for (let count = 0; count < 40; count++) await service.anonymous.get('/servers');
    expect(await statusBeforeTheEnd(`${PREFIX}/bots/register`)).toBe(429);
  });
});
