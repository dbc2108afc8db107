import { OutgoingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { LetheHttpAdapter } from '@app/http';
import { rawRequest, requestText } from '../support/raw-socket';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const CONNECTIONS_MAX = 12;
const settings = { CONNECTIONS_MAX: String(CONNECTIONS_MAX) };
/** Cuts no reader within a test. */
const patient = useServiceInProcess({ ...settings, READER_TIMEOUT_MS: '600000' });
const hasty = useServiceInProcess({ ...settings, READER_TIMEOUT_MS: '400' });
let service = patient;
beforeEach(() => (service = patient));

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

/** Calls `note` with each answer that is being ended. */
function whenEnding(note: (answer: OutgoingMessage) => void): jest.SpyInstance {
  const end = Reflect.get(OutgoingMessage.prototype, 'end') as (...given: unknown[]) => OutgoingMessage;
  return jest.spyOn(OutgoingMessage.prototype, 'end').mockImplementation(function (
    this: OutgoingMessage,
    ...given: unknown[]
  ) {
    note(this);
    return end.apply(this, given);
  });
}

const answersIn = (text: string): number => text.split('HTTP/1.1 200 OK').length - 1;

describe('a reader that takes nothing', () => {
  it('is cut, whatever the answer is, with all that waits for it', async () => {
    service = hasty;
    const socket = await silent(get('/docs-json', 30));
    await until(() => connections() === 0);
    expect(answersIn(await read(socket))).toBeLessThan(30);
  });

  it('has one answer begun, however many requests it sends', async () => {
    const unsent = new Map<Socket | null, number>();
    let most = 0;
    const spy = whenEnding((answer) => {
      const { socket } = answer;
      unsent.set(socket, (unsent.get(socket) ?? 0) + 1);
      most = Math.max(most, unsent.get(socket) ?? 0);
      answer.once('finish', () => unsent.set(socket, (unsent.get(socket) ?? 0) - 1));
    });
    await Promise.all(Array.from({ length: 10 }, () => silent(get('/docs-json', 30))));
    await until(() => [...unsent.values()].filter((count) => count > 0).length === 10);
    expect(await statusOf('/health/live')).toBe(200);
    spy.mockRestore();
    expect(most).toBe(1);
  });
});

describe('many readers that ask for long answers at the same moment', () => {
  it('get one in each turn of the event loop, so that others are answered in between', async () => {
    await statusOf('/docs-json');
    let [inTurn, most, all] = [0, 0, 0];
    const spy = whenEnding(() => {
      all++;
      most = Math.max(most, ++inTurn);
      setImmediate(() => (inTurn = 0));
    });
    await Promise.all(Array.from({ length: CONNECTIONS_MAX - 1 }, () => silent(get('/docs-json', 20))));
    await until(() => all >= 2 * CONNECTIONS_MAX);
    spy.mockRestore();
    expect(most).toBeLessThan(4);
  });
});

describe('a reader that takes a part from time to time', () => {
  it('gets all answers, in the order of its requests', async () => {
    const socket = await silent(get('/docs-json', 20));
    const text = read(socket);
    for (let part = 1; part <= 8; part++) {
      await until(() => socket.bytesRead >= part * 2_000_000, 1);
      socket.pause();
      await statusOf('/health/live');
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
