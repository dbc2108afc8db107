import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** When the connection is cut: before the server sees the text, or before the client sees the server's answer to it. */
export type Cut = 'before it is sent' | 'after it is answered';

/** A TCP proxy before a PostgreSQL server, which cuts connections at a chosen text, falls silent, or is gone. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  private planned: { text: string; cut: Cut; done: () => void } | undefined;
  private awaited: { text: string; then: () => void } | undefined;
  private silent = false;
  private refusing = false;
  private server: Server;

  private constructor(private readonly target: URL) {}

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

  /** Cuts the next connection over which `text` is sent; resolves when that has happened. */
  cutAt(text: string, cut: Cut): Promise<void> {
    return new Promise((done) => (this.planned = { text, cut, done }));
  }

  /** Calls `then` when `text` is sent for the first time from now on, which is by name where it was prepared before. */
  onceSent(text: string, then: () => void): void {
    this.awaited = { text, then };
  }

  /** Cuts every connection. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Whether connections stay open and nothing comes through them. */
  fallSilent(silent: boolean): void {
    this.silent = silent;
    for (const socket of this.sockets) void (silent ? socket.pause() : socket.resume());
  }

  /** Whether there is nobody: connections are cut, and new ones too. */
  refuse(refusing: boolean): void {
    this.refusing = refusing;
    if (refusing) this.cutAll();
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
      if (answering === undefined) client.write(answered);
      else answering();
    });
  }
}
