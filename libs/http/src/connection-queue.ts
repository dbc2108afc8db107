import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection on which more requests wait for the answers before them is cut. */
const WAITING_MAX = 32;

type Run = (request: IncomingMessage, response: ServerResponse) => void;
type Exchange = readonly [IncomingMessage, ServerResponse];

/**
 * Runs the requests of one connection one after the other. A request begins once the answer before it is taken, so that
 * a client that sends many requests and reads nothing has one answer in memory. After an answer that closes the
 * connection no further request begins, since its answer could not be sent.
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
    } else if (others.length < WAITING_MAX) others.push([request, response]);
    else socket.destroy();
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
