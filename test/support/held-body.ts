import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Answer, type Json, PREFIX } from './client';
import type { Service } from './service';
import { until } from './until';

/**
 * Sends a POST without the last byte of its body. Resolves once the service waits for that byte, to a function that sends it and resolves to the
 * answer.
 */
export async function heldBody(
  { app, port }: Service,
  path: string,
  headers: Readonly<Record<string, string>>,
  given: unknown,
): Promise<() => Promise<Answer<Json>>> {
  const body = JSON.stringify(given);
  const begun = once(app.getHttpServer(), 'request') as Promise<[IncomingMessage]>;
  const lines = Object.entries({
    ...{ Host: 'localhost', Connection: 'close', 'Content-Type': 'application/json' },
    ...{ 'Content-Length': String(Buffer.byteLength(body)), ...headers },
  }).map(([name, value]) => `${name}: ${value}`);
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = once(socket, 'close');
  socket.write([`POST ${path} HTTP/1.1`, ...lines, '', body.slice(0, -1)].join('\r\n'));
  const [request] = await begun;
  await until(() => request.listenerCount('data') > 0);
  return async () => {
    socket.write(body.slice(-1));
    await closed;
    const [head = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n', 2);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    return new Answer<Json>(status, new Headers(), text);
  };
}

/** {@link heldBody} to the interface with an API key. */
export const heldCall = (service: Service, key: string, path: string, given: unknown) =>
  heldBody(service, PREFIX + path, { Authorization: `Bearer ${key}` }, given);
