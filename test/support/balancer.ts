import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until';

/** A load balancer: it sends each request to the next of its places, and waits for the last answer of one that leaves. */
export class Balancer {
  /** How often each status was answered. */
  readonly statuses = new Map<number, number>();
  url: string;
  private readonly places: string[] = [];
  private readonly open = new Map<string, number>();
  private turn = 0;
  private readonly server = createServer((asked, answer) => this.pass(asked, answer));

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** All answers so far. */
  get answers(): number {
    return [...this.statuses.values()].reduce((sum, count) => sum + count, 0);
  }

  add({ url }: { readonly url: string }): void {
    this.places.push(url);
  }

  /** Resolves when no request is at this place any more. */
  async remove({ url }: { readonly url: string }): Promise<void> {
    this.places.splice(this.places.indexOf(url), 1);
    await until(() => (this.open.get(url) ?? 0) === 0);
  }

  private pass(asked: IncomingMessage, answer: ServerResponse): void {
    const place = this.places[this.turn++ % this.places.length] ?? '';
    this.count(place, 1);
    const { method, url, headers } = asked;
    const passed = request(place + url, { method, headers, agent: false }, (got) => {
      const { statusCode = 0 } = got;
      this.statuses.set(statusCode, (this.statuses.get(statusCode) ?? 0) + 1);
      answer.writeHead(statusCode, got.headers);
      got.pipe(answer).on('close', () => this.count(place, -1));
    });
    passed.on('error', () => {
      this.count(place, -1);
      answer.destroy();
    });
    asked.pipe(passed);
  }

  private count(place: string, by: 1 | -1): void {
    this.open.set(place, (this.open.get(place) ?? 0) + by);
  }
}
