import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { type Degradations, inTime } from '@app/kernel';

/** The name in {@link Degradations} while each process counts alone. */
const RATE_LIMIT_LOCAL = 'rate_limit_local';

/** Time limits in milliseconds. Tests on busy machines set others. */
export const REDIS_LIMITS = {
  /** The limit of a command. A Redis that needs longer counts as unavailable. */
  commandMs: 50,
  /** The limit of a new connection, with TLS and name resolution. The start of the service waits for one attempt. */
  connectMs: 1_000,
};
/** The pause between the end of a connection and the next attempt, in milliseconds. */
const PAUSE_MS = 500;

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
  keepAlive: 30_000,
};

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
    private readonly probe: (client: Redis) => Promise<unknown>,
    private readonly degradations: Degradations,
    private readonly logger: Logger,
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

  async run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    if (this.state !== 'up') throw fault('AWAY');
    try {
      return await within(command(this.client));
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
      await within(this.probe(this.client));
      if (this.client.status !== 'ready' || this.state === 'closed') return;
      if (this.state === 'away') {
        this.degradations.note(RATE_LIMIT_LOCAL, false);
        this.logger.info('Redis answers again: rates are counted together');
      }
      this.state = 'up';
    } catch (error) {
      this.lose(this.reason ?? error);
    }
  }

  private lose(reason: unknown): void {
    if (this.state === 'closed') return;
    if (this.state !== 'away') {
      this.degradations.note(RATE_LIMIT_LOCAL, true);
      this.logger.warn(
        { reason: reasonOf(reason) },
        'Redis does not answer: each process counts rates by itself',
      );
    }
    this.state = 'away';
    if (this.client.status === 'ready') this.client.disconnect(true);
  }
}

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** @throws Error when `work` takes longer than a command may */
function within<T>(work: Promise<T>): Promise<T> {
  return inTime(work, REDIS_LIMITS.commandMs, () => {
    throw fault('TIMEOUT');
  });
}

/** The code of an error, or the first word of an answer of Redis. The rest of a message can hold addresses and keys. */
function reasonOf(error: unknown): string {
  const { code, message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return code ?? /^[A-Z]{2,}\b/.exec(message)?.[0] ?? 'CLOSED';
}
