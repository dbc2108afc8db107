import type { RedisPlace } from '@app/kernel';
import { COMMAND_MS, CONNECT_MS, type RedisClient, redisClient } from './redis-client';

/** The pause between the end of a connection and the next attempt, in milliseconds. */
const PAUSE_MS = 500;

/** Callbacks for the loss of Redis, once for each loss, and for its return. */
export interface RedisLinkNotice {
  lost(reason: string): void;
  regained(): void;
}

type Command<T> = (client: RedisClient) => Promise<T>;

/**
 * A connection to Redis that is used only while Redis answers. A command settles within 50 ms. After the first failure
 * every further command fails at once, until a new connection has passed the probe. A cluster counts as one: it is lost
 * with any of its primaries.
 */
export class RedisLink {
  private client: RedisClient | undefined;
  private trying: RedisClient | undefined;
  private timer: NodeJS.Timeout | undefined;
  private attempts = 0;
  private away = false;
  private closed = false;

  constructor(
    private readonly place: RedisPlace,
    private readonly probe: Command<unknown>,
    private readonly notice: RedisLinkNotice,
  ) {}

  get up(): boolean {
    return this.client !== undefined;
  }

  /** Resolves when Redis answers, or when the first attempt has failed. Further attempts are made in the background. */
  start(): Promise<void> {
    return this.attempt();
  }

  async run<T>(command: Command<T>): Promise<T> {
    const { client } = this;
    if (client === undefined) throw fault('AWAY');
    try {
      return await within(COMMAND_MS, command(client));
    } catch (error) {
      this.lose(client, error);
      throw error;
    }
  }

  /** Ends at once in every state of Redis. */
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.trying?.disconnect();
    this.client?.disconnect();
    this.client = undefined;
  }

  /**
   * Opens a new connection for each attempt, and resolves the name or asks a sentinel or cluster again: after a failover
   * they lead to another machine.
   */
  private async attempt(): Promise<void> {
    const client = redisClient(this.place, this.attempts++);
    this.trying = client;
    let reason: unknown;
    client.on('error', (error: unknown) => (reason = error));
    client.once('close', () => this.lose(client, reason));
    try {
      await within(CONNECT_MS, this.connect(client));
      await within(COMMAND_MS, this.probe(client));
      this.take(client);
    } catch (error) {
      client.disconnect();
      this.stayAway(reason ?? error);
    }
  }

  /** A client of a cluster connects to a primary at its first command there. */
  private async connect(client: RedisClient): Promise<void> {
    await client.connect();
    if (client.isCluster) await this.probe(client);
  }

  private take(client: RedisClient): void {
    this.trying = undefined;
    if (this.closed || client.status !== 'ready') throw fault('CLOSED');
    this.client = client;
    if (this.away) this.notice.regained();
    this.away = false;
  }

  private lose(client: RedisClient, reason: unknown): void {
    if (client !== this.client) return;
    this.client = undefined;
    client.disconnect();
    this.stayAway(reason);
  }

  private stayAway(reason: unknown): void {
    if (this.closed) return;
    if (!this.away) this.notice.lost(reasonOf(reason));
    this.away = true;
    this.timer = setTimeout(() => void this.attempt(), PAUSE_MS);
  }
}

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Rejects when `work` takes longer than `ms`. An answer that arrived while the event loop was busy still counts. */
function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, fault('TIMEOUT')), ms);
    // A client that was closed may never settle; its connection keeps the process for as long as there is one.
    timer.unref();
    void work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

/**
 * The code of an error, or the first word of an answer of Redis, a sentinel or a node. The rest of a message can hold
 * addresses and keys.
 */
function reasonOf(error: unknown): string {
  const { lastNodeError } = (error ?? {}) as { readonly lastNodeError?: unknown };
  if (lastNodeError !== undefined && lastNodeError !== null) return reasonOf(lastNodeError);
  const { code, message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (message.startsWith('All sentinels') && !message.includes('Last error')) return 'NO_MASTER';
  return code ?? /(?:^|Last error: (?:connect )?)([A-Z]{2,})\b/.exec(message)?.[1] ?? 'CLOSED';
}
