import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PREFIX } from '../support/client';
import { Service, useServiceInProcess } from '../support/service';
import { stopWindows } from '../support/time';
import { until } from '../support/until';

const LIMIT = 5;
const BODY = 250_000;
/** More than a connection takes for a request whose body the service does not read. */
const SENT = 200_000;
const service = useServiceInProcess({ RATE_LIMIT_ANONYMOUS: '40', RATE_LIMIT_TIERS: `free=${LIMIT}` });

/**
 * The status of the answer to a request of which a part of the body is sent; undefined when the service has read that part
 * without an answer, since it waits for the rest.
 */
async function statusBeforeTheEnd(
  path: string,
  headers: readonly string[] = [],
  { app, port } = service,
): Promise<number | undefined> {
  const text = [
    `POST ${path} HTTP/1.1`,
    ...['Host: localhost', 'Content-Type: application/json', `Content-Length: ${BODY}`, ...headers],
    '',
    ' '.repeat(SENT),
  ].join('\r\n');
  const server = app.getHttpServer();
  const begun = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const socket: Socket = connect(port, '127.0.0.1', () => socket.write(text));
  let status: number | undefined;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => (status ??= Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1])));
  const [request, response] = await begun;
  const isWaiting = (): boolean => request.socket.bytesRead === text.length && !response.headersSent;
  await until(() => status !== undefined || isWaiting());
  socket.destroy();
  return status;
}

beforeEach(() => void stopWindows(service));
afterEach(() => jest.restoreAllMocks());

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

  it.each([
    [{ REGISTRATION: 'token', REGISTRATION_TOKEN: 'a-token-of-the-operator' }, 401],
    [{ REGISTRATION: 'off' }, 404],
  ])('is not waited for of a registration that %j refuses', async (settings, status) => {
    const closed = await new Service(settings).start();
    try {
      expect(await statusBeforeTheEnd(`${PREFIX}/bots/register`, [], closed)).toBe(status);
    } finally {
      await closed.stop();
    }
  });

  it('is not waited for of a session that another page than that of the console begins', async () => {
    const page = 'X-Lethe-Console: 1';
    expect(await statusBeforeTheEnd('/console/session', [page])).toBeUndefined();
    expect(await statusBeforeTheEnd('/console/session')).toBe(401);
    expect(await statusBeforeTheEnd('/console/session', [page, 'Sec-Fetch-Site: cross-site'])).toBe(401);
  });

  it('is not waited for of an address that is over its limit, also for a registration', async () => {
    expect(await statusBeforeTheEnd(`${PREFIX}/bots/register`)).toBeUndefined();
    for (let count = 0; count < 40; count++) await service.anonymous.get('/servers');
    expect(await statusBeforeTheEnd(`${PREFIX}/bots/register`)).toBe(429);
  });
});
