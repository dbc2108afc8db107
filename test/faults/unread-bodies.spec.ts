import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PREFIX } from '../support/client';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const LIMIT = 5;
const BODY = 200_000;
const service = useServiceInProcess({ RATE_LIMIT_ANONYMOUS: '40', RATE_LIMIT_TIERS: `free=${LIMIT}` });

/** The connections as the service sees them. */
const accepted = new Map<number | undefined, Socket>();
beforeAll(() => {
  const server = service.app.getHttpServer() as Server;
  server.on('connection', (socket) => accepted.set(socket.remotePort, socket));
});

/** A request of which half the body is sent. */
class HalfSent {
  readonly answer: Promise<number>;
  isAnswered = false;
  private readonly socket: Socket;

  constructor(path: string, headers: readonly string[] = []) {
    const text = [
      `POST ${path} HTTP/1.1`,
      ...['Host: localhost', 'Content-Type: application/json', `Content-Length: ${BODY}`, ...headers],
      '',
      ' '.repeat(BODY / 2),
    ].join('\r\n');
    this.socket = connect(service.port, '127.0.0.1', () => this.socket.write(text));
    this.answer = new Promise((resolve) => {
      this.socket.on('error', () => undefined);
      this.socket.on('data', (chunk: Buffer) => {
        this.isAnswered = true;
        resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1]));
      });
    });
  }

  /** Resolves when the service has read the half, and has answered another request after that. */
  async isRead(): Promise<void> {
    await until(() => (accepted.get(this.socket.localPort)?.bytesRead ?? 0) > BODY / 2);
    await fetch(`${service.url}/health/live`);
  }

  /** Sends the other half. */
  finish(): Promise<number> {
    this.socket.write(' '.repeat(BODY / 2));
    return this.answer;
  }

  end(): void {
    this.socket.destroy();
  }
}

/** The status of the answer to a request of which half the body is sent. */
async function statusBeforeTheEnd(path: string, headers: readonly string[] = []): Promise<number> {
  const half = new HalfSent(path, headers);
  const status = await half.answer;
  half.end();
  return status;
}

/** Whether the service has not answered when it has read half the body, and answers to the whole. */
async function waitsForTheEnd(path: string, headers: readonly string[] = []): Promise<boolean> {
  const half = new HalfSent(path, headers);
  await half.isRead();
  const waits = !half.isAnswered;
  const status = await half.finish();
  half.end();
  return waits && status === 400;
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
    expect(await waitsForTheEnd(`${PREFIX}/data/submit`, key)).toBe(true);
    for (let count = 0; count < LIMIT; count++) await bot.get('/servers');
    expect(await statusBeforeTheEnd(`${PREFIX}/data/submit`, key)).toBe(429);
  });

  it('is not waited for of an address that is over its limit, also for a registration', async () => {
    expect(await waitsForTheEnd(`${PREFIX}/bots/register`)).toBe(true);
    for (let count = 0; count < 40; count++) await service.anonymous.get('/servers');
    expect(await statusBeforeTheEnd(`${PREFIX}/bots/register`)).toBe(429);
  });
});
