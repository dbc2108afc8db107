import { connect } from 'node:net';
import { Answer } from './client';

/**
 * A tick is a turn of the event loop of this process at least: a machine that stops the process counts none. A connection
 * that is left open for 45 seconds stays open: limits for slow clients are shorter.
 */
const TICK_MS = 10;
const TICKS_MAX = 4_500;
/** A message that is not complete is ended after as many ticks without a byte; what ends it earlier loses its answer. */
const HALF_CLOSE_TICKS = 15;

export interface Exchange {
  readonly answers: readonly Answer<unknown>[];
  /** Whether the service closed the connection by itself, and did not wait for ever. */
  readonly closed: boolean;
  /** Bytes after the last answer, or an answer that was cut. */
  readonly rest: string;
}

/**
 * Sends bytes and reads until the service closes the connection. `complete` is false for bytes after which the service
 * may wait for more: then this side is closed.
 */
export function exchange(port: number, bytes: Buffer, complete: boolean, isHead = false): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(bytes));
    let [ticks, silentTicks] = [0, 0];
    const clock = setInterval(() => {
      if (++silentTicks >= HALF_CLOSE_TICKS && !complete && !socket.writableEnded) socket.end();
      if (++ticks === TICKS_MAX) settle(false);
    }, TICK_MS);
    const settle = (closed: boolean): void => {
      clearInterval(clock);
      socket.destroy();
      resolve({ ...parsed(Buffer.concat(chunks), isHead), closed });
    };
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      silentTicks = 0;
    });
    socket.on('error', () => settle(true)).on('end', () => settle(true));
  });
}

/** The final answers of a connection; interim ones (100) are left out. */
function parsed(bytes: Buffer, isHead: boolean): Omit<Exchange, 'closed'> {
  const answers: Answer<unknown>[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const [line = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    if (Number.isNaN(status)) break;
    const headers = new Headers(lines.map((one) => one.split(/: ?(.*)/s, 2) as [string, string]));
    const read = status < 200 ? undefined : bodyAt(bytes, end + 4, headers);
    const body = read ?? (status < 200 || isHead ? { text: '', next: end + 4 } : undefined);
    if (body === undefined) break;
    if (status >= 200) answers.push(new Answer(status, headers, body.text));
    at = body.next;
  }
  return { answers, rest: bytes.toString('latin1', at) };
}

function bodyAt(bytes: Buffer, from: number, headers: Headers): { text: string; next: number } | undefined {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const next = from + Number(headers.get('content-length') ?? bytes.length - from);
    return next > bytes.length ? undefined : { text: bytes.toString('utf8', from, next), next };
  }
  const parts: Buffer[] = [];
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const length = parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (lineEnd < 0 || Number.isNaN(length)) return undefined;
    const next = lineEnd + 2 + length + 2;
    if (next > bytes.length) return undefined;
    if (length === 0) return { text: Buffer.concat(parts).toString(), next };
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
  }
}
