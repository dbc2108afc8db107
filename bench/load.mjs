import { fork } from 'node:child_process';
import { join } from 'node:path';

/** The load generator in a process of its own: `run(job)` answers throughput, percentiles and statuses. */
export class Load {
  constructor() {
    this.process = fork(join(import.meta.dirname, 'load.process.mjs'));
    process.on('exit', () => this.process.kill('SIGKILL'));
  }

  /** `job`: `{ url, requests, connections, durationMs | count }`, the requests as whole HTTP texts. */
  run(job) {
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error('the load generator ended'));
      this.process.once('exit', failed);
      this.process.once('message', (result) => {
        this.process.off('exit', failed);
        resolve(result);
      });
      this.process.send(job);
    });
  }

  stop() {
    this.process.kill();
  }
}

/** Begins the idempotency key of a request: twelve zeros, which the load generator replaces by a number for each request. */
export const KEY_MARK = 'Idempotency-Key: bench-';

/** A request with an idempotency key of its own each time when it is sent. */
export function keyed(request) {
  return request.replace('\r\n', `\r\n${KEY_MARK}${'0'.repeat(12)}\r\n`);
}

/** A whole HTTP request as text. */
export function httpRequest(method, path, key, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: keep-alive',
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
    '',
    text,
  ].join('\r\n');
}
