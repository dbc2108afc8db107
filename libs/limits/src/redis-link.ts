import { Redis, type RedisOptions } from 'ioredis';

const KEEP_ALIVE_MS = 30_000;

/** How long Redis may take, in milliseconds. The suites set other times. */
export class RedisTimes {
  /** The time limit of a command. After it Redis counts as unavailable. */
  answerMs = 50;
  /** The time limit of a new connection, TLS and name resolution included. The start of the service waits for one attempt. */
  connectMs = 1_000;
  /** The pause between the end of a connection and the next attempt. */
  pauseMs = 500;
}

/** The client queues nothing, repeats nothing and does not reconnect: {@link RedisLink} decides when Redis is used. */
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: null,
  // The probe replaces this check. It writes, so it fails on a replica and on a full or loading Redis.
  enableReadyCheck: false,
  disableClientInfo: true,
  // A Redis that hangs never closes its side.
  disconnectTimeout: 0,
  keepAlive: KEEP_ALIVE_MS,
};

/** Callbacks for the loss of Redis, once for each loss, and for its return. */
export interface RedisLinkNotice {
  lost(reason: string): void;
  regained(): void;
}

type Command<T> = (client: Redis) => Promise<T>;

/**
 * A connection to Redis that is used only while Redis answers. A command settles within {@link RedisTimes.answerMs}. After the first failure
 * every further command fails at once, until a new connection has passed the probe.
 */
export class RedisLink {
  private client: Redis | undefined;
  private trying: Redis | undefined;
  private timer: NodeJS.Timeout | undefined;
  private away = false;
  private closed = false;

  constructor(
    private readonly url: string,
    private readonly probe: Command<unknown>,
    private readonly notice: RedisLinkNotice,
    private readonly times = new RedisTimes(),
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
      return await within(this.times.answerMs, command(client));
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
   * Opens a new connection for each attempt and resolves the name again: after a failover the name leads to another
   * machine.
   */
  private async attempt(): Promise<void> {
    const client = new Redis(this.url, { ...OPTIONS, connectTimeout: this.times.connectMs });
    this.trying = client;
    let reason: unknown;
    client.on('error', (error) => (reason = error));
    client.once('close', () => this.lose(client, reason));
    try {
      await within(this.times.connectMs, client.connect());
      await within(this.times.answerMs, this.probe(client));
      this.take(client);
    } catch (error) {
      client.disconnect();
      this.stayAway(reason ?? error);
    }
  }

  private take(client: Redis): void {
    this.trying = undefined;
    if (this.closed || client.status !== 'ready') throw fault('CLOSED');
    this.client = client;
    if (this.away) this.notice.regained();
    this.away = false;
  }

  private lose(client: Redis, reason: unknown): void {
    if (client !== this.client) return;
    this.client = undefined;
    client.disconnect();
    this.stayAway(reason);
  }

  private stayAway(reason: unknown): void {
    if (this.closed) return;
    if (!this.away) this.notice.lost(reasonOf(reason));
    this.away = true;
    this.timer = setTimeout(() => void this.attempt(), this.times.pauseMs);
  }
}

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Rejects when `work` takes longer than `ms`. An answer that arrived while the event loop was busy still counts. */
function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, fault('TIMEOUT')), ms);
    void work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

/** The code of an error, or the first word of an answer of Redis. The rest of a message can hold addresses and keys. */
function reasonOf(error: unknown): string {
  const { code, message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return code ?? /^[A-Z]{2,}\b/.exec(message)?.[0] ?? 'CLOSED';
}
