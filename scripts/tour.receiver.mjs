import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const WAIT_MS = 10_000;

/** The webhook receiver of a bot: it verifies the signature of the raw body before it reads the call. */
export class Receiver {
  constructor() {
    this.calls = [];
    this.waiting = undefined;
    this.server = createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        this.calls.push({ headers: request.headers, raw: Buffer.concat(chunks) });
        response.end();
        this.waiting?.();
      });
    });
  }

  async listen() {
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${this.server.address().port}/gdpr`;
  }

  /** The next call, its signature verified with `secret`. */
  async next(secret) {
    if (this.calls.length === 0) await this.arrival();
    const { headers, raw } = this.calls.shift();
    const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
    const given = Buffer.from(headers['x-gdpr-signature'] ?? '');
    const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);
    return { isGenuine, event: headers['x-gdpr-event'], signature: String(given), raw: String(raw) };
  }

  arrival() {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no webhook call arrived')), WAIT_MS);
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
