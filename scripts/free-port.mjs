import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those of test/support/free-port.ts, and below what the system gives to who asks for any port. */
const [FIRST, COUNT] = [19_000, 1_000];

/** Another process begins elsewhere. */
let next = process.pid;

/** A port of the loopback address on which nothing listens, another one in each call. */
export async function freePort() {
  for (let count = 0; count < COUNT; count++) {
    const server = createServer().listen(FIRST + (next++ % COUNT), '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (error.code === 'EADDRINUSE') continue;
      throw error;
    }
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`Every port from ${FIRST} to ${FIRST + COUNT - 1} is taken`);
}
