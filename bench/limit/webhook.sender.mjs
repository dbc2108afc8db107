import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';

/** Most calls at one time, as in Lethe for one URL. */
const AT_ONCE = 2;

/** Read at once, in the order in which they were committed. */
const BATCH = 50;

/** Sends what was committed, and has the store write down what became of it. */
export class WebhookSender {
  isSending = false;
  agent = new Agent({ keepAlive: true });

  constructor(store) {
    this.store = store;
  }

  /** Something of the bot has been committed; without a URL its deliveries wait. */
  poke(bot) {
    if (this.isSending || bot.webhookUrl === null) return;
    this.isSending = true;
    void this.sendAll(bot).finally(() => (this.isSending = false));
  }

  async sendAll(bot) {
    for (;;) {
      const due = await this.store.due(bot, BATCH);
      if (due.length === 0) return;
      const next = async () => {
        for (let each = due.shift(); each !== undefined; each = due.shift()) await this.call(bot, each);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, next));
    }
  }

  async call(bot, delivery) {
    const startedMs = Date.now();
    const isConfirmed = await this.post(bot, delivery);
    if (isConfirmed) await this.store.delivered(bot, delivery, startedMs, Date.now() - startedMs);
  }

  post(bot, { event, payload }) {
    const digest = createHmac('sha256', bot.secret).update(payload).digest('hex');
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(payload),
      'X-GDPR-Event': event,
      'X-GDPR-Signature': `sha256=${digest}`,
    };
    return new Promise((resolve) => {
      const call = request(bot.webhookUrl, { method: 'POST', headers, agent: this.agent }, (answer) =>
        answer.resume().on('end', () => resolve(answer.statusCode < 300)),
      );
      call.on('error', () => resolve(false)).end(payload);
    });
  }
}
