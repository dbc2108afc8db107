import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A server with enough of PostgreSQL's protocol to report an old version. */
export async function oldPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let begun = false;
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      if (chunk[0] === 0x58) return socket.end();
      if (begun) socket.write(Buffer.concat([...rowOf(String(chunk)), READY]));
      else socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]));
      begun = true;
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `postgres://lethe:s3cr3t-pw@127.0.0.1:${(server.address() as AddressInfo).port}/old`,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const READY = message('Z', Buffer.from('I'));

/** An answer of one row with one column. */
function rowOf(query: string): Buffer[] {
  const name = /SHOW (\w+)/i.exec(query)?.[1] ?? 'version';
  const value = Buffer.from(name === 'server_version_num' ? '130012' : '13.12');
  const text = [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0];
  return [
    message('T', Buffer.concat([Buffer.from([0, 1]), Buffer.from(`${name}\0`), Buffer.from(text)])),
    message('D', Buffer.concat([Buffer.from([0, 1, 0, 0, 0, value.length]), value])),
    message('C', Buffer.from('SHOW\0')),
  ];
}
