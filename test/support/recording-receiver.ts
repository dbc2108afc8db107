import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './client';

/** The received attempts of one delivery. */
export interface Recorded {
  readonly webhookId: string;
  readonly body: Json;
  attempts: number;
  confirmed: number;
}

/**
 * The web servers of many bots, each bot with its own path. They record every delivery, and whether two attempts of one
 * were open at the same time.
 */
export class RecordingReceiver {
  readonly deliveries = new Map<string, Recorded>();
  /** Ids of deliveries with two attempts open at the same time. */
  readonly overlapping = new Set<string>();
  /** Whether an attempt is answered with 500. */
  fails: (attempt: number, nth: number) => boolean = () => false;
  private readonly open = new Map<string, number>();
  private held: (() => void)[] | undefined;
  private given = 0;
  /** Ten hosts, since calls to one host wait for each other. */
  private readonly servers: readonly Server[] = Array.from({ length: 10 }, () => this.server());

  private server(): Server {
    return createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const id = String(request.headers['webhook-id']);
        const confirm = this.begin(id, JSON.parse(Buffer.concat(chunks).toString()) as Json);
        const answer = (): unknown => response.writeHead(confirm() ? 200 : 500).end();
        if (this.held === undefined) setImmediate(answer);
        else this.held.push(answer);
      });
    });
  }

  async start(): Promise<this> {
    for (const server of this.servers)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** The address of one bot, on the next host. */
  at(name: string | number): string {
    const server = this.servers[this.given++ % this.servers.length];
    return `http://127.0.0.1:${(server?.address() as AddressInfo).port}/${name}`;
  }

  get attempts(): number {
    return [...this.deliveries.values()].reduce((sum, { attempts }) => sum + attempts, 0);
  }

  /** Running calls. */
  get openCalls(): number {
    return this.open.size;
  }

  /** From here on no call is answered until `letGo`. */
  hold(): void {
    this.held ??= [];
  }

  letGo(): void {
    for (const answer of this.held?.splice(0) ?? []) answer();
    this.held = undefined;
  }

  forget(): void {
    this.letGo();
    this.deliveries.clear();
    this.overlapping.clear();
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** Answers a function that ends the attempt and returns whether it is confirmed. */
  private begin(id: string, body: Json): () => boolean {
    const nth = this.deliveries.size;
    const known = this.deliveries.get(id) ?? { webhookId: id, body, attempts: 0, confirmed: 0 };
    this.deliveries.set(id, known);
    known.attempts++;
    const open = this.open.get(id) ?? 0;
    this.open.set(id, open + 1);
    if (open > 0) this.overlapping.add(id);
    const isFailing = this.fails(known.attempts, nth);
    return () => {
      const left = (this.open.get(id) ?? 1) - 1;
      if (left === 0) this.open.delete(id);
      else this.open.set(id, left);
      if (!isFailing) known.confirmed++;
      return !isFailing;
    };
  }
}
