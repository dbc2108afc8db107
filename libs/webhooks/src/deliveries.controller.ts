import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds } from '@app/http';
import {
  DeliveriesQuery,
  DeliveriesView,
  DeliveryDetailsView,
  DeliveryPath,
  DeliveryView,
  Replay,
  ReplayView,
} from './deliveries.dto';
import { DeliveriesService } from './deliveries.service';

@ApiTags('Webhooks')
@Controller('webhooks')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  @ApiOperation({ summary: 'List the webhook calls of the last 30 days, newest first' })
  @Responds(200, DeliveriesView)
  list(@CurrentBot() bot: Caller, @Query() query: DeliveriesQuery): Promise<DeliveriesView> {
    return this.deliveries.list(bot.botId, query);
  }

  @Get('deliveries/:id')
  @ApiOperation({ summary: 'Read one webhook call with its attempts' })
  @Responds(200, DeliveryDetailsView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() { id }: DeliveryPath): Promise<DeliveryDetailsView> {
    return this.deliveries.view(bot.botId, id.toLowerCase());
  }

  @Post('deliveries/:id/redeliver')
  @ApiOperation({ summary: 'Send one webhook call again, with the same id' })
  @Responds(200, DeliveryView, ['not_found', 'conflict'])
  redeliver(@CurrentBot() bot: Caller, @Param() { id }: DeliveryPath): Promise<DeliveryView> {
    return this.deliveries.redeliver(bot.botId, id.toLowerCase());
  }

  @Post('replay')
  @ApiOperation({
    summary: 'Send every event since a time again, for instance after a backup of the bot was restored',
  })
  @Responds(200, ReplayView, ['conflict', 'payload_too_large', 'unsupported_media_type'])
  replay(@CurrentBot() bot: Caller, @Body() body: Replay): Promise<ReplayView> {
    return this.deliveries.replay(bot.botId, body);
  }

  @Post('test')
  @ApiOperation({ summary: 'Send a signed ping; its delivery tells what the receiver answered' })
  @Responds(201, DeliveryView, ['conflict'])
  test(@CurrentBot() bot: Caller): Promise<DeliveryView> {
    return this.deliveries.ping(bot.botId);
  }
}
