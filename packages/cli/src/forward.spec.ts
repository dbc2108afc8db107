import { type AddressInfo, createServer, type Server } from 'node:net';
import { forward, isConfirmed } from './forward';

// The same answers as in test/faults/webhooks-hostile.spec.ts: a laptop says yes where the service does, and only there.
describe('an answer to a forwarded call', () => {
  it.each([
    ['a body after a 204', 'HTTP/1.1 204 No Content\r\n\r\nok', true],
    ['a length in characters', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nök', true],
    ['too few bytes', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok', false],
    ['more than 64 KiB', `HTTP/1.1 200 OK\r\ncontent-length: 65537\r\n\r\n${'x'.repeat(65_537)}`, false],
  ])('with %s is judged as by the service', async (_name, text, confirmed) => {
    const server: Server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(text));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ping = { event: 'ping', sent_at: '2026-01-01T00:00:00.000Z' } as const;
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const forwarded = await forward(`http://127.0.0.1:${port}/`, secret, ping, undefined, 600_000);
    server.close();
    expect(isConfirmed(forwarded)).toBe(confirmed);
  });
});
