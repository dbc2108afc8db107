import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Place } from '@app/kernel';
import { Client, type ClientConfig } from 'pg';
import { type PostgresServers, type Role, wrongServer } from './postgres.servers';

/** Options of a connection; `Client` is the class that opens it. */
export type ConnectionConfig = ClientConfig & { readonly Client?: typeof Client };

/** What the driver keeps of its connection. */
interface Wire {
  readonly connection: EventEmitter & { readonly stream: Socket };
}

interface ServerParameter {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** A connection of its own, outside a pool. */
export function newClient(config: ConnectionConfig): Client {
  return new (config.Client ?? Client)(config);
}

/** The number of the server's process, as the peer of a connection gave it. A pooler gives a number of its own. */
export function processOf(client: unknown): number {
  return Number((client as { processID?: unknown }).processID);
}

const doubts = new WeakMap<object, () => void>();

/** The server of a connection does not answer in time: it may be gone. */
export function doubtServerOf(client: object): void {
  doubts.get(client)?.();
}

/** Closes a connection on which a statement is under way. */
export function abandon(client: unknown): void {
  (client as Wire).connection.stream.destroy();
}

/**
 * The class of connections to the server among `servers` that has the role. Each server says at the login whether it is a
 * standby, so a connection to the wrong one is refused before its first statement. A pooler does not say so reliably.
 */
export function clientOf(servers: PostgresServers, role: Role, isSeveral: boolean): typeof Client {
  return class SelectedClient extends Client {
    private readonly given: ClientConfig;
    private hasEnded = false;

    constructor(config: ClientConfig) {
      super(config);
      this.given = config;
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
      if (callback !== undefined) return this.select(callback);
      return new Promise((resolve, reject) => {
        this.select((error) => (error === null ? resolve(this) : reject(error)));
      });
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | undefined {
      this.hasEnded ||= !this.socket.destroyed;
      if (callback === undefined) return super.end();
      super.end(callback);
      return undefined;
    }

    private get socket(): Socket {
      return (this as unknown as Wire).connection.stream;
    }

    private select(done: (error: Error | null) => void): undefined {
      servers.select(this.given).then((place) => this.open(place, done), done);
      return undefined;
    }

    /**
     * Calls `done` in the turn in which the connection is ready: an error in the same packet behind it is an event, and ends
     * the process without the listener that `done` adds.
     */
    private open(place: Place, done: (error: Error | null) => void): void {
      // The pool gives a connection up that takes too long.
      if (this.hasEnded || this.socket.destroyed) return done(wrongServer(role));
      if (isSeveral) Object.assign(this, place);
      const says = this.standbyParameter();
      this.watch(place);
      super.connect((error: Error | null) => {
        const isRight = (says.standby ?? role) === role;
        if (error || !isRight) servers.doubt(place);
        if (error || isRight) return done(error ?? null);
        this.end(() => done(wrongServer(role)));
      });
    }

    private watch(place: Place): void {
      const held = { place, abandon: () => abandon(this) };
      servers.hold(held);
      doubts.set(this, () => servers.doubt(place));
      this.once('end', () => {
        servers.leave(held);
        if (!this.hasEnded) servers.doubt(place);
      });
    }

    private standbyParameter(): { standby?: Role } {
      const says: { standby?: Role } = {};
      (this as unknown as Wire).connection.on(
        'parameterStatus',
        ({ parameterName: name, parameterValue: value }: ServerParameter) => {
          if (name === 'in_hot_standby') says.standby = value === 'on' ? 'standby' : 'primary';
        },
      );
      return says;
    }
  };
}
