import { connect, type Socket } from 'node:net';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { PREFIX } from '../support/client';
import { useOneInstallation } from '../support/installation';
import { rawRequest } from '../support/raw-socket';

const CONNECT = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n';
const GARBAGE = 'hello\r\n\r\n';

/** Resolves when the service closes the connection, which this side never does; true unless there is no service. */
function isClosedUpon(port: number, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () =>
      socket.write(text),
    );
    socket.resume();
    // Bytes sent on a connection that the other side closed cause an error.
    const probe = setInterval(() => socket.write('x'), 500);
    const settle = (isClosed: boolean): void => {
      clearInterval(probe);
      socket.destroy();
      resolve(isClosed);
    };
    socket.on('error', ({ code }: NodeJS.ErrnoException) => settle(code !== 'ECONNREFUSED'));
  });
}

// In its own process: an error of a socket without a listener ends the process.
describe('connections that misbehave', () => {
  const lethe = useOneInstallation({ build: useBuild() });
  let service: ChildService;
  let port: number;
  beforeAll(async () => {
    service = await lethe.child({ RATE_LIMIT_ANONYMOUS: '10000' }, lethe.log).start();
    port = Number(new URL(service.url).port);
  });

  it.each([
    ['CONNECT', CONNECT],
    ['garbage', GARBAGE],
  ])('do not end the process when they are reset upon their refusal (%s)', async (_, text) => {
    for (let round = 0; round < 60; round++) {
      await new Promise<void>((resolve) => {
        const socket: Socket = connect(port, '127.0.0.1', () =>
          socket.write(text, () => {
            if (round % 3 === 0) socket.resetAndDestroy();
            else setTimeout(() => socket.resetAndDestroy(), round % 4);
          }),
        );
        socket.on('error', () => undefined).on('close', () => resolve());
      });
    }
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  });

  it.each([
    ['CONNECT', CONNECT],
    ['garbage', GARBAGE],
  ])('are closed although the client keeps them open (%s)', async (_, text) => {
    expect(await isClosedUpon(port, text)).toBe(true);
  });

  it('are answered in the envelope without a Host, and with an unknown expectation', async () => {
    const noHost = await rawRequest(port, 'GET /api/v1/servers HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect([noHost.status, JSON.parse(noHost.body)]).toMatchObject([
      400,
      { success: false, error: { code: 'invalid_request' } },
    ]);
    expect(noHost.head).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(noHost.head).toMatch(/\r\nX-RateLimit-Limit: \d+\r\n/);
    const headers = 'Host: localhost\r\nExpect: wonders\r\nConnection: close\r\n\r\n';
    const expecting = await rawRequest(port, `GET /api/v1/servers HTTP/1.1\r\n${headers}`);
    expect([expecting.status, JSON.parse(expecting.body)]).toMatchObject([
      401,
      { success: false, error: { code: 'unauthorized' } },
    ]);
    expect(expecting.head).toMatch(/\r\nX-RateLimit-Limit: \d+\r\n/);
  });

  it('get one answer to a request whose body turns out to be unreadable', async () => {
    const refused = 'POST /nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\nabc';
    const { status, body } = await rawRequest(port, refused);
    expect([status, body.match(/HTTP\/1\.1/g)]).toEqual([404, null]);
  });

  const BROKEN = 'Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';

  it('get the answer to an act that waits for no body when the chunks behind it are none', async () => {
    const bot = await Bot.register(service.url);
    expect((await bot.get('/servers')).status).toBe(200);
    const act = `DELETE ${PREFIX}/bots/${bot.id} HTTP/1.1\r\nAuthorization: Bearer ${bot.key}\r\n${BROKEN}`;
    const { status, head } = await rawRequest(port, act);
    expect([status, head]).toEqual([200, expect.stringMatching(/\r\nConnection: close/)]);
    expect((await bot.get('/servers')).status).toBe(401);
  });

  it.each(['/', '/docs', '/docs-json'])(
    'get %s before such chunks, which the log does not hear of',
    async (path) => {
      const page = `GET ${path} HTTP/1.1\r\nAccept: text/html\r\n${BROKEN}`;
      expect((await rawRequest(port, page)).status).toBe(200);
      expect(lethe.logged).toBe('');
    },
  );
});
