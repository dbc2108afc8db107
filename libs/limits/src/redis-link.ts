import { Redis, type RedisOptions } from 'ioredis';

/** Time limits in milliseconds. Tests on busy machines set others. */
export const REDIS_LIMITS = {
  /** Of a command. After it Redis counts as unavailable. */
  commandMs: 50,
  /** Of a new connection, TLS and name resolution included. The start of the service waits for one attempt. */
  connectMs: 1_000,
};
/** The pause between the end of a connection and the next attempt, in milliseconds. */
const PAUSE_MS = 500;
const KEEP_ALIVE_MS = 30_000;

/** The client reconnects and queues nothing. {@link RedisLink} decides when Redis is used. */
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => PAUSE_MS,
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
 * A connection to Redis that is used only while Redis answers. A command settles within 50 ms. After the first failure
 * every further command fails at once, until a new connection has passed the probe.
 */
export class RedisLink {
  private readonly client: Redis;
  private state: 'new' | 'up' | 'away' | 'closed' = 'new';
  private reason: unknown;
  private probing: Promise<void> | undefined;

  constructor(
    url: string,
    private readonly probe: Command<unknown>,
    private readonly notice: RedisLinkNotice,
  ) {
    // The name is resolved for each connection: after a failover it leads to another machine.
    this.client = new Redis(url, { ...OPTIONS, connectTimeout: REDIS_LIMITS.connectMs });
    this.client.on('error', (error) => (this.reason = error));
    this.client.on('ready', () => void (this.probing = this.take()));
    this.client.on('close', () => this.lose(this.reason));
  }

  /** Resolves when Redis answers, or when the first attempt has failed. Further attempts are made in the background. */
  async start(): Promise<void> {
    await this.client.connect().catch(() => undefined);
    await this.probing;
  }

  async run<T>(command: Command<T>): Promise<T> {
    if (this.state !== 'up') throw fault('AWAY');
    try {
      return await within(REDIS_LIMITS.commandMs, command(this.client));
    } catch (error) {
      this.lose(error);
      throw error;
    }
  }

  /** Ends at once in every state of Redis. */
  close(): void {
    this.state = 'closed';
    this.client.disconnect();
  }

  private async take(): Promise<void> {
    this.reason = undefined;
    try {
      await within(REDIS_LIMITS.commandMs, this.probe(this.client));
      if (this.client.status !== 'ready' || this.state === 'closed') return;
      if (this.state === 'away') this.notice.regained();
      this.state = 'up';
    } catch (error) {
      this.lose(this.reason ?? error);
    }
  }

  private lose(reason: unknown): void {
    if (this.state === 'closed') return;
    if (this.state !== 'away') this.notice.lost(reasonOf(reason));
    this.state = 'away';
    if (this.client.status === 'ready') this.client.disconnect(true);
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
