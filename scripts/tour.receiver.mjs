import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const WAIT_MS = 10_000;
const BODY_MAX_BYTES = 65_536;

/** The webhook receiver of a bot: it verifies the signature of the raw body before it keeps the call. */
export class Receiver {
  constructor() {
    this.secret = undefined;
    this.calls = [];
    this.waiting = undefined;
    this.server = createServer((request, response) => {
      const answer = (status) =>
        response.headersSent || response.writeHead(status, { connection: 'close' }).end();
      const chunks = [];
      let bytes = 0;
      request.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes > BODY_MAX_BYTES) answer(413);
        else chunks.push(chunk);
      });
      request.on('end', () => {
        if (bytes > BODY_MAX_BYTES) return;
        answer(this.keep(request.headers, Buffer.concat(chunks)) ? 200 : 401);
      });
    });
  }

  async listen() {
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${this.server.address().port}/gdpr`;
  }

  /** Whether the call is genuine; others are not kept. */
  keep(headers, raw) {
    if (this.secret === undefined) return false;
    const expected = Buffer.from(`sha256=${createHmac('sha256', this.secret).update(raw).digest('hex')}`);
    const given = Buffer.from(headers['x-gdpr-signature'] ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    this.calls.push({ event: headers['x-gdpr-event'], signature: String(given), raw: String(raw) });
    this.waiting?.();
    return true;
  }

  /** The next genuine call. */
  async next() {
    if (this.calls.length === 0) await this.arrival();
    return this.calls.shift();
  }

  arrival() {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('no webhook call with a signature by the webhook_secret arrived')),
        WAIT_MS,
      );
      this.waiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
