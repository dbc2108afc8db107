import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** When the connection is cut: before the server receives the text, or before the client receives its answer. */
export type Cut = 'before it is sent' | 'after it is answered';

/** ReadyForQuery, outside of a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I');
const FAULT = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
/** ErrorResponse of a terminated backend. */
const TERMINATED = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), Buffer.from(FAULT)]);
TERMINATED.writeInt32BE(TERMINATED.length - 1, 1);

/** A TCP proxy before a PostgreSQL server that can cut connections at a text, fall silent, or refuse connections. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  private planned: { text: string; cut: Cut; done: () => void } | undefined;
  private awaited: { text: string; then: () => void } | undefined;
  private silent = false;
  private refusing = false;
  private terminating = false;
  private server: Server;

  private constructor(private target: URL) {}

  /** A proxy before the server of `url`. */
  static async before(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(new URL(url));
    proxy.server = createServer((client) => proxy.join(client));
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The database through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** From here on new connections lead to the server of `url`, as after a failover. */
  leadTo(url: string): void {
    this.target = new URL(url);
  }

  /** Cuts the next connection that sends `text`; resolves when it is cut. */
  cutAt(text: string, cut: Cut): Promise<void> {
    return new Promise((done) => (this.planned = { text, cut, done }));
  }

  /** Calls `then` when `text`, or the name of its prepared statement, is next sent. */
  onceSent(text: string, then: () => void): void {
    this.awaited = { text, then };
  }

  /** Cuts every connection. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Keeps connections open without any traffic. */
  fallSilent(silent: boolean): void {
    this.silent = silent;
    for (const socket of this.sockets) void (silent ? socket.pause() : socket.resume());
  }

  /** Cuts all connections, new ones too. */
  refuse(refusing: boolean): void {
    this.refusing = refusing;
    if (refusing) this.cutAll();
  }

  /** Ends new connections like `pg_terminate_backend`, with the fault in the packet that says they are ready. */
  terminateNew(terminating: boolean): void {
    this.terminating = terminating;
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = connect(Number(this.target.port), this.target.hostname);
    const both = [client, server];
    let answering: (() => void) | undefined;
    const cut = (): void => both.forEach((socket) => void socket.destroy());
    for (const socket of both) {
      this.sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        this.sockets.delete(socket);
        cut();
      });
      if (this.silent) socket.pause();
    }
    client.on('data', (sent: Buffer) => {
      if (this.awaited !== undefined && sent.includes(this.awaited.text)) {
        const { then } = this.awaited;
        this.awaited = undefined;
        then();
      }
      const plan = this.planned;
      if (plan === undefined || !sent.includes(plan.text)) {
        server.write(sent);
        return;
      }
      this.planned = undefined;
      answering = () => {
        cut();
        plan.done();
      };
      if (plan.cut === 'before it is sent') answering();
      else server.write(sent);
    });
    server.on('data', (answered: Buffer) => {
      if (this.terminating && answered.includes(READY)) client.end(Buffer.concat([answered, TERMINATED]));
      else if (answering === undefined) client.write(answered);
      else answering();
    });
  }
}
