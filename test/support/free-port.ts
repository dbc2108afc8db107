import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below what operating systems give to connections and to servers that ask for any port. */
const FIRST = 20_000;
/** Each process takes its ports from a part of its own, and listens on the first one of it as long as it lives. */
const [PARTS, PART] = [40, 300];

interface Part {
  readonly first: number;
  next: number;
}

const shared = globalThis as { partOfPorts?: Promise<Part> };

/**
 * A port of the loopback address on which nothing listens, another one in each call. Neither the operating system nor
 * another process of tests takes it before its server listens, or while that starts again.
 */
export async function freePort(): Promise<number> {
  // The suites of a process share its part.
  const part = await (shared.partOfPorts ??= newPart());
  for (;;) {
    const port = part.first + part.next;
    part.next = (part.next % (PART - 1)) + 1;
    const server = await listening(port);
    if (server === undefined) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

async function newPart(): Promise<Part> {
  for (let at = 0; at < PARTS; at++) {
    const first = FIRST + at * PART;
    const server = await listening(first);
    server?.unref();
    if (server !== undefined) return { first, next: 1 };
  }
  throw new Error('Every part of the ports is taken');
}

async function listening(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
