import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** The window of the limiter, in milliseconds. */
const WINDOW_MS = 60_000;

/** What a fake Redis does with a command, given the right answer to it. */
export type Behaviour = (socket: Socket, right: string) => void;

/** A server with the protocol of Redis, for machines without one. It counts right unless it is set to misbehave. */
export class FakeRedis {
  private readonly sockets = new Set<Socket>();
  private readonly windows = new Map<string, { count: number; ends: number }>();
  behaviour: Behaviour = answersRight;
  connections = 0;
  /** Whether new connections are accepted: without them a service that has lost this Redis stays without it. */
  accepts = true;
  /** Commands that count requests, besides the probes of new connections. */
  counting = 0;

  private constructor(private readonly server: Server) {}

  static async started(behaviour: Behaviour = answersRight): Promise<FakeRedis> {
    const fake: FakeRedis = new FakeRedis(createServer((socket) => fake.serve(socket)));
    fake.behaviour = behaviour;
    await once(fake.server.listen(0, '127.0.0.1'), 'listening');
    return fake;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  /** Forgets every count, like FLUSHALL. */
  flush(): void {
    this.windows.clear();
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(socket: Socket): void {
    if (!this.accepts) return void socket.destroy();
    this.connections++;
    this.sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let command = commandIn(text); command !== undefined; command = commandIn(text)) {
        text = text.slice(command.length);
        if (!command.words.some((word) => word.endsWith('probe'))) this.counting++;
        this.behaviour(socket, this.answerTo(command.words));
      }
    });
  }

  /** The answer to the script of the limiter: the time, then count and end of each window. */
  private answerTo([, , count, ...given]: readonly string[]): string {
    const keys = given.slice(0, Number(count));
    const now = Date.now();
    const numbers = keys.flatMap((key, at) => {
      const known = this.windows.get(key);
      const window = known !== undefined && known.ends > now ? known : { count: 0, ends: now + WINDOW_MS };
      const [amount, most] = [1, 2].map((list) => Number(given[list * keys.length + at])) as [number, number];
      const count = window.count + amount;
      if (most === 0 || count <= most) window.count = count;
      this.windows.set(key, window);
      return [count, window.ends];
    });
    return listOf([now, ...numbers]);
  }
}

export const answersRight: Behaviour = (socket, right) => void socket.write(right);

/** Answers the same to every command. */
export const answers =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text);

export const listOf = (numbers: readonly number[]): string =>
  `*${numbers.length}\r\n${numbers.map((one) => `:${one}\r\n`).join('')}`;

/** The first whole command of a text: a list of texts, each with its length. */
function commandIn(text: string): { words: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let at = head[0].length;
  for (let left = Number(head[1]); left > 0; left--) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 16));
    if (size === null) return undefined;
    const from = at + size[0].length;
    at = from + Number(size[1]) + 2;
    if (at > text.length) return undefined;
    words.push(text.slice(from, at - 2));
  }
  return { words, length: at };
}
