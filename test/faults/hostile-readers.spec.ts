import { OutgoingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { LetheHttpAdapter } from '@app/http';
import { Turns } from '@app/kernel';
import { rawRequest, requestText } from '../support/raw-socket';
import { useServiceInProcess } from '../support/service';
import { until } from '../support/until';

const CONNECTIONS_MAX = 12;
/** Only a reader that never takes anything meets this limit, in milliseconds: the one of all others is a minute. */
const SHORT_MS = 400;
const service = useServiceInProcess({ CONNECTIONS_MAX: String(CONNECTIONS_MAX) });

const connections = (): number => (service.app.getHttpAdapter() as unknown as LetheHttpAdapter).connections;

const server = (): Server => service.app.getHttpServer();

const opened: Socket[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
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

/** The long answers that are sent while it watches. */
interface Watched {
  all: number;
  /** Most that are sent in one turn of the event loop, and that one connection holds. */
  mostInTurn: number;
  mostHeld: number;
  readonly documents: Set<unknown>;
}

function watch(): Watched {
  const seen: Watched = { all: 0, mostInTurn: 0, mostHeld: 0, documents: new Set() };
  const held = new Map<unknown, number>();
  const hold = (socket: unknown, more: number): number => {
    held.set(socket, (held.get(socket) ?? 0) + more);
    return held.get(socket) ?? 0;
  };
  let inTurn = 0;
  const next = Reflect.get(Turns.prototype, 'next');
  jest.spyOn(Turns.prototype, 'next').mockImplementation(async function (this: Turns) {
    await next.call(this);
    inTurn = 0;
  });
  const end = Reflect.get(OutgoingMessage.prototype, 'end') as (...given: unknown[]) => OutgoingMessage;
  jest.spyOn(OutgoingMessage.prototype, 'end').mockImplementation(function (
    this: OutgoingMessage,
    ...given: unknown[]
  ) {
    const { socket } = this;
    if (Buffer.isBuffer(given[0])) {
      seen.all++;
      seen.mostInTurn = Math.max(seen.mostInTurn, ++inTurn);
      seen.mostHeld = Math.max(seen.mostHeld, hold(socket, 1));
      seen.documents.add(given[0]);
      this.once('close', () => hold(socket, -1));
    }
    return end.apply(this, given);
  });
  return seen;
}

/** The next connections, on the side of the service. */
function accepted(count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  return new Promise((resolve) => {
    const take = (socket: Socket): void => {
      if (sockets.push(socket) < count) return;
      server().off('connection', take);
      resolve(sockets);
    };
    server().on('connection', take);
  });
}

describe('a reader that takes nothing', () => {
  it('is cut, whatever the answer is, with all that waits for it', async () => {
    const { timeout } = server();
    server().timeout = SHORT_MS;
    const served = accepted(1);
    const socket = await silent(get('/docs-json', 30));
    await served;
    await until(() => connections() === 0);
    server().timeout = timeout;
    expect(answersIn(await read(socket))).toBeLessThan(30);
  });

  it('holds one answer in memory, however many requests it sends, and all readers share its text', async () => {
    const seen = watch();
    const [served] = await Promise.all([
      accepted(10),
      ...Array.from({ length: 10 }, () => silent(get('/docs-json', 30))),
    ]);
    // The buffers of the connections are full.
    await until(() => served.every(({ writableLength }) => writableLength > 0));
    expect(await statusOf('/health/live')).toBe(200);
    expect(seen.mostHeld).toBe(1);
    expect(seen.documents.size).toBe(1);
    const { byteLength } = [...seen.documents][0] as Buffer;
    // Beside the text only its headers wait.
    for (const { writableLength } of served) expect(writableLength).toBeLessThan(byteLength + 4_096);
  });
});

describe('many readers that ask for long answers at the same moment', () => {
  it('get one in each turn of the event loop, so that others are answered in between', async () => {
    await statusOf('/docs-json');
    const seen = watch();
    const others = CONNECTIONS_MAX - 1;
    await Promise.all(Array.from({ length: others }, () => silent(get('/docs-json', 20))));
    await until(() => seen.all > 2 * others);
    expect(seen.mostInTurn).toBe(1);
  });
});

describe('a reader that takes a part from time to time', () => {
  it('gets all answers, in the order of its requests', async () => {
    const [[served], socket] = await Promise.all([accepted(1), silent(get('/docs-json', 20))]);
    const text = read(socket);
    for (let parts = 0; parts < 8; parts++) {
      socket.pause();
      // The service waits for the reader, or has sent everything.
      await until(() => (served?.writableLength ?? 0) > 0 || connections() === 0);
      const before = socket.bytesRead;
      socket.resume();
      await until(() => socket.bytesRead > before || socket.closed);
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
