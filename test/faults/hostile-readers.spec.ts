import { OutgoingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { LetheHttpAdapter } from '@app/http';
import { rawRequest, requestText } from '../support/raw-socket';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const CONNECTIONS_MAX = 12;
const service = useServiceInProcess({
  READER_TIMEOUT_MS: '400',
  CONNECTIONS_MAX: String(CONNECTIONS_MAX),
});

const connections = (): number => (service.app.getHttpAdapter() as unknown as LetheHttpAdapter).connections;

const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await until(() => connections() === 0);
});

/** A connection that sends a text and reads nothing until it is resumed. */
function silent(text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(text, () => resolve(socket)));
    socket.pause().on('error', () => undefined);
    opened.push(socket);
  });
}

/** Requests on one connection, which ends with the last answer. */
const get = (path: string, times: number): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(times - 1) + requestText(`GET ${path}`);

/** The status of a request whose connection ends with the answer: `fetch` keeps its own open, which is counted. */
const statusOf = async (path: string): Promise<number> =>
  (await rawRequest(service.port, requestText(`GET ${path}`))).status;

function read(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('close', () => {
        resolve(Buffer.concat(chunks).toString());
      });
    socket.resume();
  });
}

const answersIn = (text: string): number => text.split('HTTP/1.1 200 OK').length - 1;

describe('a reader that takes nothing', () => {
  it('is cut, whatever the answer is, with all that waits for it', async () => {
    const socket = await silent(get('/docs-json', 30));
    await until(() => connections() === 1);
    await until(() => connections() === 0);
    expect(answersIn(await read(socket))).toBeLessThan(30);
  });

  it('holds one answer in memory, however many requests it sends', async () => {
    await statusOf('/docs-json');
    const before = process.memoryUsage();
    await Promise.all(Array.from({ length: 10 }, () => silent(get('/docs-json', 30))));
    await until(() => connections() >= 10);
    await statusOf('/health/live');
    const { arrayBuffers } = process.memoryUsage();
    // The connections share the one document.
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(3_000_000);
  });
});

describe('many readers that ask for long answers at the same moment', () => {
  it('get one in each turn of the event loop, so that others are answered in between', async () => {
    await statusOf('/docs-json');
    const end = Reflect.get(OutgoingMessage.prototype, 'end') as (...given: unknown[]) => OutgoingMessage;
    let [inTurn, most, all] = [0, 0, 0];
    const spy = jest.spyOn(OutgoingMessage.prototype, 'end').mockImplementation(function (
      this: OutgoingMessage,
      ...given: unknown[]
    ) {
      all++;
      most = Math.max(most, ++inTurn);
      setImmediate(() => (inTurn = 0));
      return end.apply(this, given);
    });
    await Promise.all(Array.from({ length: CONNECTIONS_MAX - 1 }, () => silent(get('/docs-json', 20))));
    await until(() => connections() === 0);
    spy.mockRestore();
    expect(all).toBeGreaterThan(2 * CONNECTIONS_MAX);
    expect(most).toBeLessThan(4);
  });
});

describe('a reader that takes a part from time to time', () => {
  it('gets all answers, in the order of its requests', async () => {
    const socket = await silent(get('/docs-json', 20));
    const text = read(socket);
    for (let turn = 0; turn < 8; turn++) {
      await pause(5);
      socket.pause();
      await pause(100);
      socket.resume();
    }
    expect(answersIn(await text)).toBe(20);
  });
});

describe('connections', () => {
  it('are bounded: further ones are closed', async () => {
    let closed = 0;
    for (let count = 0; count < 2 * CONNECTIONS_MAX; count++)
      (await silent('GET')).on('close', () => closed++).resume();
    await until(() => closed === CONNECTIONS_MAX);
    expect(connections()).toBe(CONNECTIONS_MAX);
    for (const socket of opened) socket.destroy();
    await until(() => connections() === 0);
    expect(await statusOf('/health/live')).toBe(200);
  });

  it('are cut when more than 32 requests wait for one answer', async () => {
    const within = await silent(get('/health/live', 33));
    expect(answersIn(await read(within))).toBe(33);
    const beyond = await silent(get('/health/live', 34));
    expect(answersIn(await read(beyond))).toBe(0);
  });
});
