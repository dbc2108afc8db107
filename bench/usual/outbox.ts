import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { Bot, DeletionRequest, WebhookDelivery } from './entities';

const BATCH = 50;
const TIMEOUT_MS = 10_000;

@Injectable()
export class OutboxService {
  private sending = false;

  constructor(
    @InjectRepository(Bot) private readonly bots: Repository<Bot>,
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    @InjectRepository(DeletionRequest) private readonly requests: Repository<DeletionRequest>,
  ) {}

  async queue(
    manager: EntityManager,
    bot: Bot,
    payload: Record<string, unknown> & { event: string },
    requestId: string | null = null,
  ) {
    if (bot.webhookUrl === null) return;
    await manager.insert(WebhookDelivery, {
      botId: bot.id,
      event: payload.event,
      requestId,
      payload: JSON.stringify(payload),
      status: 'pending',
      attempts: 0,
      createdAt: new Date(),
    });
  }

  @Interval(1000)
  async sendPending(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      const order = { createdAt: 'ASC' } as const;
      const due = await this.deliveries.find({ where: { status: 'pending' }, order, take: BATCH });
      await Promise.all(due.map((delivery) => this.send(delivery)));
    } finally {
      this.sending = false;
    }
  }

  private async send(delivery: WebhookDelivery): Promise<void> {
    const bot = await this.bots.findOneByOrFail({ id: delivery.botId });
    const digest = createHmac('sha256', bot.webhookSecret).update(delivery.payload).digest('hex');
    const headers = {
      'Content-Type': 'application/json',
      'X-GDPR-Event': delivery.event,
      'X-GDPR-Signature': `sha256=${digest}`,
    };
    const { webhookUrl: url } = bot;
    const request = {
      method: 'POST',
      headers,
      body: delivery.payload,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    };
    const isConfirmed =
      url !== null &&
      (await fetch(url, request).then(
        ({ ok }) => ok,
        () => false,
      ));
    const attempts = delivery.attempts + 1;
    const outcome = isConfirmed ? { status: 'delivered', finishedAt: new Date() } : {};
    await this.deliveries.update(delivery.id, { attempts, ...outcome });
    if (isConfirmed && delivery.requestId !== null)
      await this.requests.update(delivery.requestId, { webhookSent: true });
  }
}
