import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Controller, Module, Patch } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Express } from 'express';
import { readConfig } from '@app/kernel';
import { until } from '../../../test/support/until';
import { answerError } from './answer';
import { LetheHttpAdapter } from './http.adapter';
import type { LetheRequest, LetheResponse } from './request-context';

@Controller('reminders')
class Changing {
  @Patch()
  change(): void {}
}
@Module({ controllers: [Changing] })
class ChangingModule {}

/** Counts requests and refuses what is none, as the middleware of the service does. */
function admit(request: LetheRequest, response: LetheResponse, next: () => void): void {
  const [meter, rate] = [{ answered: () => undefined }, { limit: 30 }];
  request.context = {
    id: 'id',
    rate,
    isCounted: true,
    meter,
    spans: {},
    logger: { isLevelEnabled: () => false },
  } as never;
  if (request.fault === undefined) next();
  else answerError(response, request.fault);
}

let adapter: LetheHttpAdapter;
let server: Server;
/** Answers the GET that waits for it. */
let answerGet: (() => void) | undefined;
/** How many chunks each body had, and how many bytes all of them. */
let pieces: number[];
let bytes: number;
function begin(environment: Record<string, string> = {}): void {
  [pieces, bytes] = [[], 0];
  adapter = new LetheHttpAdapter(readConfig(environment));
  adapter.initHttpServer();
  server = adapter.getHttpServer();
  adapter.getInstance<Express>().use(admit as never);
  adapter.getInstance<Express>().post('/', (request, response) => {
    const at = pieces.push(0) - 1;
    request.on('data', (chunk: Buffer) => {
      pieces[at]! += 1;
      bytes += chunk.length;
    });
    request.once('end', () => void response.end('whole'));
  });
  adapter.getInstance<Express>().get('/', (_request, response) => {
    answerGet = () => void response.end('got');
  });
}
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n';
const BODY = 'x'.repeat(200_000);

/** A thread with forty callers, each with a whole request. It changes `state` once all are connected. */
const CALLERS = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { state, port, text } } = require('node:worker_threads');
  let connected = 0;
  const calls = Array.from({ length: 40 }, () => new Promise((resolve) => {
    let answer = '';
    const client = connect(port, '127.0.0.1', () => {
      if (++connected < 40) return;
      Atomics.store(state, 0, 1);
      Atomics.notify(state, 0);
    });
    client.on('data', (chunk) => (answer += chunk)).on('error', (error) => (answer += error));
    client.on('close', () => resolve(answer)).write(text);
  }));
  Promise.all(calls).then((answers) => parentPort.postMessage(answers));
`;

/** A connection whose first bytes the server has read, and its end at the server. */
async function connected(first: string): Promise<[client: Socket, socket: Socket, answer: Promise<string>]> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[socket]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [
    [Socket],
    unknown,
  ];
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString()));
  client.write(first);
  // The next turn of the event loop reads what is written after this one.
  do await new Promise(setImmediate);
  while (socket.bytesRead < first.length);
  return [client, socket, once(client, 'close').then(() => text)];
}

describe('LetheHttpAdapter', () => {
  it('refuses a route with PATCH at the start: no request reaches it', async () => {
    begin();
    const app = await NestFactory.create(ChangingModule, adapter, { logger: false, abortOnError: false });
    await expect(app.init()).rejects.toThrow('PATCH /reminders is never answered');
  });

  it.each([
    [{}, 65_000],
    [{ KEEP_ALIVE_TIMEOUT_MS: '700000' }, 700_000],
  ])('keeps idle connections as %j says', (environment, keptMs) => {
    begin(environment);
    expect(server.keepAliveTimeout).toBe(keptMs);
  });

  // A process that was suspended finds its timers over before it reads what has come meanwhile.
  const late = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const firsts = [
    ['no byte', ''] as const,
    ['half a head', HEAD.slice(0, 20)] as const,
    ['a head', HEAD] as const,
  ];

  it.each(firsts)('answers a request that waits whole when its time is over, after %s', async (_, first) => {
    begin();
    const [client, socket, answer] = await connected(first);
    client.write((HEAD + BODY).slice(first.length));
    server.emit('clientError', late, socket);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*whole[^]*$/);
  });

  it.each(firsts)('answers 408 when the time is over and only a part waits, after %s', async (_, first) => {
    begin();
    const [client, socket, answer] = await connected(first);
    client.write((HEAD + BODY).slice(first.length, -1));
    server.emit('clientError', late, socket);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n(?:[^]*\r\n)?Connection: close\r\n/);
  });

  it('answers a request that is whole before the second is over, also if it reads that later', async () => {
    begin();
    const [client, socket, answer] = await connected(HEAD);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    client.write(BODY.slice(1));
    server.emit('clientError', late, socket);
    do await new Promise(setImmediate);
    while (jest.getTimerCount() === 0 || bytes < BODY.length - 1);
    client.write('x');
    jest.advanceTimersByTime(1_000);
    jest.useRealTimers();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*whole[^]*$/);
  });

  it('answers 408 at once when the time is over and no byte waits', async () => {
    begin();
    const [, socket, answer] = await connected(HEAD.slice(0, 20));
    server.emit('clientError', late, socket);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  });

  it('cuts an idle connection, but none with a request that waits to be read', async () => {
    begin();
    const [client, socket, answer] = await connected('');
    client.write(HEAD + BODY);
    server.emit('timeout', socket);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    server.close();
    const [, idle, nothing] = await connected('');
    server.emit('timeout', idle);
    expect(await nothing).toBe('');
  });

  it('answers at its end all connections that were made, also those that it has not accepted yet', async () => {
    begin();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const state = new Int32Array(new SharedArrayBuffer(4));
    const { port } = server.address() as AddressInfo;
    const worker = new Worker(CALLERS, { eval: true, workerData: { state, port, text: HEAD + BODY } });
    const answers = once(worker, 'message') as Promise<[string[]]>;
    await once(worker, 'online');
    // No turn of the event loop passes here until all are connected.
    Atomics.wait(state, 0, 0);
    const drained = adapter.drain(60_000);
    for (const answer of (await answers)[0]) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(await drained).toBe(true);
  });

  it('holds the bodies of requests that wait in one piece each, and answers all of them', async () => {
    begin();
    const post = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n';
    const body = `${'1\r\nx\r\n'.repeat(5_000)}0\r\n\r\n`;
    const empty = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n';
    const rest = empty + `${post}\r\n${body}`.repeat(4) + `${post}Connection: close\r\n\r\n${body}`;
    const first = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const [client, socket, answer] = await connected(first);
    client.write(rest);
    await until(() => socket.bytesRead === first.length + rest.length);
    answerGet?.();
    const text = await answer;
    expect([text.match(/got/g), text.match(/whole/g)]).toEqual([['got'], Array(6).fill('whole')]);
    expect(pieces).toEqual([0, 1, 1, 1, 1, 5_000]);
    expect(bytes).toBe(25_000);
  });
});
