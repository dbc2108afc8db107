import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what operating systems give to connections and to servers that ask for any port. */
const [FIRST, PORTS] = [20_000, 12_000];
/** Each process of Jest takes from a part of its own, so that a port stays free until its server listens. */
const PARTS = 16;
const PART = Math.floor(PORTS / PARTS);
const first = FIRST + (Number(process.env['JEST_WORKER_ID'] ?? 0) % PARTS) * PART;
let next = Math.floor(Math.random() * PART);

/** A port of the loopback address on which nothing listens, another one in each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % PART);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
