import { connect, type Socket } from 'node:net';
import type { LetheHttpAdapter } from '@app/http';
import type { Config } from '@app/kernel';
import { listenFault } from '@app/runtime';
import { greeting } from '../../apps/api/src/start';
import { requestText } from '../support/raw-socket';
import { Service } from '../support/service';

/** A connection whose sending is controlled by the test. */
class Connection {
  private received = '';
  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => (this.received += chunk.toString()));
    socket.on('error', () => undefined);
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve) => {
      const socket: Socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)));
    });
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Resolves with all received bytes once they contain the text. */
  async receives(text: string): Promise<string> {
    while (!this.received.includes(text)) await new Promise((resolve) => this.socket.once('data', resolve));
    return this.received;
  }

  /** Resolves with all received bytes when the service has closed the connection. */
  async ended(): Promise<string> {
    if (!this.socket.closed) await new Promise((resolve) => this.socket.once('close', resolve));
    return this.received;
  }
}

const BODY = JSON.stringify({ platform_bot_id: '123456789012345678', name: 'Late bot' });
const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('a shutdown', () => {
  let service: Service;
  let adapter: LetheHttpAdapter;

  beforeEach(async () => {
    service = await new Service().start();
    adapter = service.app.getHttpAdapter() as unknown as LetheHttpAdapter;
  });
  afterEach(() => service.stop());

  it('answers the running request with Connection: close and only then ends', async () => {
    const connection = await Connection.open(service.port);
    const headers = [
      'Content-Type: application/json',
      `Content-Length: ${BODY.length}`,
      'Expect: 100-continue',
    ];
    connection.send(requestText('POST /api/v1/bots/register', headers).replace('Connection: close\r\n', ''));
    await connection.receives('100 Continue');
    const drained = adapter.drain(10_000);
    connection.send(BODY);
    const answer = await connection.ended();
    expect(answer).toContain('201 Created');
    expect(answer).toContain('Connection: close');
    expect(await drained).toBe(true);
  });

  it('lets a connection that was idle bring one more request, whose answer closes it', async () => {
    const connection = await Connection.open(service.port);
    connection.send(LIVE);
    await connection.receives('"status":"ok"');
    const drained = adapter.drain(10_000);
    connection.send(LIVE);
    expect((await connection.ended()).match(/Connection: (keep-alive|close)/g)).toEqual([
      'Connection: keep-alive',
      'Connection: close',
    ]);
    expect(await drained).toBe(true);
  });

  it('closes idle connections and those that never said anything', async () => {
    const idle = await Connection.open(service.port);
    idle.send(LIVE);
    await idle.receives('"status":"ok"');
    const silent = await Connection.open(service.port);
    expect(await adapter.drain(10_000)).toBe(true);
    await Promise.all([idle.ended(), silent.ended()]);
  });

  it('takes no new connection', async () => {
    await adapter.drain(10_000);
    await expect(fetch(`${service.url}/health/live`)).rejects.toThrow();
  });

  it('cuts what is not done in time, and says so', async () => {
    const connection = await Connection.open(service.port);
    connection.send('POST /api/v1/bots/register HTTP/1.1\r\nHost: localhost\r\nContent-');
    expect(await adapter.drain(50)).toBe(false);
    await connection.ended();
  });
});

describe('the start', () => {
  const config = {
    host: '0.0.0.0',
    port: 3000,
    database: { engine: 'sqlite', path: './data/lethe.db' },
    tiers: new Map([['free', 30]]),
    anonymousLimit: 120,
    jobs: 'on',
  } as unknown as Config;

  const place = { host: config.host, port: config.port, setting: 'PORT' };

  it('says where it listens, where the documentation is, and which database and limiter it uses', () => {
    const text = greeting(config, 3000, false);
    expect(text).toContain('http://localhost:3000 ');
    expect(text).toContain('http://localhost:3000/docs');
    expect(text).toContain('SQLite, ./data/lethe.db');
    expect(text).toContain('free 30');
    expect(text).not.toContain('console');
  });

  it.each([
    ['', 'with the API key of a bot, or with OPERATOR_TOKEN once it is set'],
    ['t'.repeat(16), 'with the API key of a bot, or with OPERATOR_TOKEN'],
  ])('says where the console is and what signs in there, with the token "%s"', (operatorToken, signs) => {
    const text = greeting({ ...config, operatorToken }, 3000, true);
    expect(text).toContain(`  console        http://localhost:3000/console, ${signs}\n`);
  });

  it.each(['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'])('explains %s in one line', (code) => {
    const fault = listenFault(Object.assign(new Error(), { code }), place) as Error;
    expect(fault.message).toMatch(/^(Port 3000|HOST)[^\n]+$/);
  });
});
