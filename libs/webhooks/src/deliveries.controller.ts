import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Caller, CurrentBot, Describes, EXAMPLE, IdPath, RequiresScope, Responds, Topic } from '@app/http';
import { Claim, Claimed } from '@app/acts';
import {
  DeliveriesQuery,
  DeliveriesView,
  DeliveryDetailsView,
  DeliveryView,
  Replay,
  ReplayView,
} from './deliveries.dto';
import { DeliveriesService } from './deliveries.service';

@Topic('Webhooks', "The signed calls to a bot's `webhook_url`, their outcomes, and how to send them again.")
@Controller('webhooks')
@RequiresScope('admin')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'List the webhook calls of the last 30 days, newest first',
    description:
      'Answers one page of the calls with the outcome of their last attempt. Filter by `status`, ' +
      '`event` or `user_id`. Calls with `exhausted`, `gone` or `cancelled` were not delivered and can be sent ' +
      'again.',
  })
  @Responds(200, DeliveriesView)
  list(@CurrentBot() bot: Caller, @Query() query: DeliveriesQuery): Promise<DeliveriesView> {
    return this.deliveries.list(bot.botId, query);
  }

  @Get('deliveries/:id')
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'Read one webhook call with its attempts',
    description:
      'Answers one call with its body and up to 100 of its latest attempts. After the confirmation ' +
      'only the ids, keys and times of the body are kept.',
    parameters: { id: EXAMPLE.delivery_id },
  })
  @Responds(200, DeliveryDetailsView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() { id }: IdPath): Promise<DeliveryDetailsView> {
    return this.deliveries.view(bot.botId, id.toLowerCase());
  }

  @Post('deliveries/:id/redeliver')
  @Describes({
    summary: 'Send one webhook call again, with the same id',
    description:
      'Queues the call again, whatever its outcome was. It carries the same `webhook-id`, so a ' +
      'receiver that remembers ids recognises it. A call that waits is sent now. Without a ' +
      '`webhook_url` the answer is 409 `no_webhook_url`.',
    parameters: { id: EXAMPLE.delivery_id },
  })
  @Responds(200, DeliveryView, ['not_found', 'no_webhook_url'])
  redeliver(
    @CurrentBot() bot: Caller,
    @Param() { id }: IdPath,
    @Claimed() claim: Claim,
  ): Promise<DeliveryView> {
    return this.deliveries.redeliver(bot.botId, id.toLowerCase(), claim);
  }

  @Post('replay')
  @Describes({
    summary: 'Send every event since a time again, for instance after a backup of the bot was restored',
    description:
      'Queues every call since a time again, oldest first, with the ids that the calls had. ' +
      '`undelivered_only` leaves out what the receiver has confirmed. If the call is interrupted, ' +
      'repeat it: with the same `Idempotency-Key` it continues; without one it begins anew, and unless ' +
      '`undelivered_only` is true it sends again what was confirmed meanwhile.',
    examples: { body: { since: '2026-11-01T00:00:00Z' } },
  })
  @Responds(200, ReplayView, ['no_webhook_url'])
  replay(@CurrentBot() bot: Caller, @Body() body: Replay, @Claimed() claim: Claim): Promise<ReplayView> {
    return this.deliveries.replay(bot.botId, body, claim);
  }

  @Post('test')
  @Describes({
    summary: 'Send a signed ping; its delivery shows the answer of the receiver',
    description:
      'Queues a `ping` that is signed like every other call. Read the delivery with the `id` of this ' +
      'answer to see what the receiver answered. A repeat sends a further ping.',
  })
  @Responds(201, DeliveryView, ['no_webhook_url'])
  test(@CurrentBot() bot: Caller, @Claimed() claim: Claim): Promise<DeliveryView> {
    return this.deliveries.ping(bot.botId, claim);
  }
}
