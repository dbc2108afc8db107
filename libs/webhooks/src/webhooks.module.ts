import { Global, Module } from '@nestjs/common';
import { BotsModule, WebhookHealth } from '@app/bots';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { Clock, CONFIG, type Config, EgressPolicy, Random } from '@app/kernel';
import { DeliveriesController } from './deliveries.controller';
import { DeliveriesService } from './deliveries.service';
import { DeliveryData } from './delivery-data.holder';
import { DeliveryHealth, OutboxGauges } from './delivery-health';
import { DeliveryLeases } from './delivery-leases';
import { DeliveryResults } from './delivery-results';
import { DeliveryRetention } from './delivery-retention.job';
import { Attempt, Delivery, ReceiverHealth, UrlChange } from './delivery.entity';
import { Dispatcher } from './dispatcher';
import { DeliveryTexts } from './delivery-texts';
import { HttpWebhookSender } from './http.sender';
import { Webhooks1763600000009 } from './migrations/1763600000009-webhooks';
import { Outbox, WebhookEventsListener } from './outbox';
import { RetrySchedule } from './delivery-states';
import { WakeUpTimer, SystemTimer } from './due-queue';
import { WebhookSender } from './webhook-call';

/** Sends webhook calls about withdrawn consents and erasures. It listens to their events: no library calls it. */
@Global()
@Module({
  imports: [
    CryptoModule,
    BotsModule,
    DatabaseModule.forFeature([Delivery, Attempt, ReceiverHealth, UrlChange], [Webhooks1763600000009]),
  ],
  controllers: [DeliveriesController],
  providers: [
    DeliveryLeases,
    DeliveryResults,
    Dispatcher,
    DeliveryTexts,
    Outbox,
    OutboxGauges,
    WebhookEventsListener,
    DeliveryData,
    DeliveryRetention,
    DeliveriesService,
    {
      provide: RetrySchedule,
      inject: [CONFIG, Random],
      useFactory: (config: Config, random: Random) => new RetrySchedule(config.webhookRetrySchedule, random),
    },
    {
      provide: WebhookSender,
      inject: [CONFIG, EgressPolicy, Clock],
      useFactory: (config: Config, egress: EgressPolicy, clock: Clock) =>
        new HttpWebhookSender(config, egress, clock),
    },
    { provide: WakeUpTimer, useClass: SystemTimer },
    { provide: WebhookHealth, useClass: DeliveryHealth },
  ],
  exports: [WebhookHealth],
})
export class WebhooksModule {}
