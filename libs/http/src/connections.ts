import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LetheResponse } from './request-context';

/** How many connections the system holds for a server that has not accepted them yet, as `listen` asks for. */
const BACKLOG = 511;

/** A connection. `_httpMessage` is the answer that is being sent on it: Node.js has no public name for it. */
export type AnsweredSocket = Duplex & {
  readonly _httpMessage?: LetheResponse | null;
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
};

/** Cuts a connection without activity, unless its next bytes have to come from this service or wait to be read. */
export function cutUnlessWorking(socket: AnsweredSocket): void {
  const { bytesRead } = socket;
  setImmediate(() => {
    if (socket.bytesRead !== bytesRead) return;
    if (socket.writableLength > 0 || socket._httpMessage == null) socket.destroy();
  });
}

/**
 * Accepts the connections that wait in the system, one in each turn of the event loop, at the latest until `endMs` on the
 * monotonic clock: the end of `listen` would reset them.
 */
export async function acceptWaiting(server: Server, endMs: number): Promise<void> {
  let taken = 0;
  const count = (): void => void taken++;
  const events = ['connection', 'drop'] as const;
  for (const event of events) server.on(event, count);
  // The first turn may have begun after its time to accept, so that nothing follows from it.
  for (let turn = 0, before = 0; turn < 2 || (taken !== before && turn < BACKLOG); turn++) {
    if (performance.now() >= endMs) break;
    before = taken;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  for (const event of events) server.off(event, count);
}

/** A connection on which more requests wait for the answers before them is cut. */
const WAITING_MAX = 32;

/** Makes what has come of a body one chunk: a chunk of one byte takes hundreds in memory. */
function join(waiting: IncomingMessage | undefined): void {
  // The read of an empty body is its end, for which nothing listens yet.
  if (waiting === undefined || waiting.readableLength === 0) return;
  waiting.unshift(waiting.read() as Buffer);
}

export type Run = (request: IncomingMessage, response: ServerResponse) => void;
type Exchange = readonly [IncomingMessage, ServerResponse];

/**
 * Runs the requests of one connection one after the other. A request begins once the answer before it is taken, so that
 * a client that sends many requests and reads nothing has one answer in memory. After an answer that closes the
 * connection no further request begins, since its answer could not be sent. The body of a request that waits is one buffer in
 * memory once another one comes after it, and no longer one for each chunk.
 */
export class ConnectionQueue {
  private readonly waiting = new WeakMap<Socket, Exchange[]>();

  constructor(private readonly run: Run) {}

  readonly take: Run = (request, response) => {
    const { socket } = request;
    if (socket.writableEnded) return;
    const others = this.waiting.get(socket);
    if (others === undefined) {
      this.waiting.set(socket, []);
      this.begin(socket, [request, response]);
    } else if (others.length < WAITING_MAX) {
      join(others.at(-1)?.[0]);
      others.push([request, response]);
    } else socket.destroy();
  };

  private begin(socket: Socket, [request, response]: Exchange): void {
    response.once('close', () => this.end(socket));
    this.run(request, response);
  }

  private end(socket: Socket): void {
    const next = this.waiting.get(socket)?.shift();
    if (next === undefined || socket.destroyed || socket.writableEnded) this.waiting.delete(socket);
    else this.begin(socket, next);
  }
}
