import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './client';

/** One webhook call as it arrived. */
export interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly body: Json;
}

/** The web server of a bot on loopback: keeps every call and answers with the set status. */
export class Receiver {
  readonly calls: Call[] = [];
  /** The status of its answers. */
  status = 200;
  url: string;
  private server: Server;
  private resets = 0;
  private readonly waiting: { count: number; resolve: (calls: Call[]) => void }[] = [];

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        // A late call from an earlier test.
        if (request.url?.split('?')[0] !== new URL(this.url).pathname) return response.writeHead(200).end();
        const rawBody = Buffer.concat(chunks).toString();
        this.calls.push({ headers: request.headers, rawBody, body: JSON.parse(rawBody) as Json });
        response.writeHead(this.status).end();
        this.wakeWaiting();
        return undefined;
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
    return this;
  }

  /** Changes the URL and forgets all calls; late calls to the old URL are confirmed and not kept. */
  reset(): void {
    this.calls.length = 0;
    this.status = 200;
    this.url = this.url.replace(/hook.*$/, `hook-${++this.resets}`);
  }

  /** All calls, once there are `count`. */
  received(count: number): Promise<Call[]> {
    return new Promise((resolve) => {
      this.waiting.push({ count, resolve });
      this.wakeWaiting();
    });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private wakeWaiting(): void {
    for (const waiter of [...this.waiting]) {
      if (this.calls.length < waiter.count) continue;
      this.waiting.splice(this.waiting.indexOf(waiter), 1);
      waiter.resolve([...this.calls]);
    }
  }
}

/** Starts a receiver before the tests of the calling file or `describe`, and stops it after them. */
export function useReceiver(): Receiver {
  const receiver = new Receiver();
  beforeAll(() => receiver.start());
  afterAll(() => receiver.stop());
  return receiver;
}
