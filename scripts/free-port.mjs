import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those of test/support/free-port.ts, and below what the system gives to who asks for any port. */
const [FIRST, COUNT] = [19_000, 1_000];

/** A port of the loopback address on which nothing listens, and which the system gives to no other. */
export async function freePort() {
  for (let at = 0; at < COUNT; at++) {
    // Another process begins elsewhere.
    const server = createServer().listen(FIRST + ((process.pid + at) % COUNT), '127.0.0.1');
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
