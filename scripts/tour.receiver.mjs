import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.mjs';

const PROGRAM = join(import.meta.dirname, '../docs/receiver.mjs');
const WAIT_MS = 120_000;

/** The webhook receiver of a bot: docs/receiver.mjs, which prints the calls that are genuine. */
export class Receiver {
  /** The address, for the registration that answers the secret. */
  async reserve() {
    this.port = await freePort();
    return `http://127.0.0.1:${this.port}/gdpr`;
  }

  async start(secret) {
    const env = { SECRET: secret, PORT: String(this.port) };
    this.child = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    await this.line();
  }

  /** The body of the next genuine call. */
  async next() {
    return (await this.line()).replace(/^webhook: /, '');
  }

  async line() {
    const timer = setTimeout(() => this.close(), WAIT_MS);
    const { value } = await this.lines.next();
    clearTimeout(timer);
    if (value === undefined)
      throw new Error('no webhook call with a signature by the webhook_secret arrived');
    return value;
  }

  close() {
    this.child.kill();
  }
}
