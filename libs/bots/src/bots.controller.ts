import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Public, RegistrationBody, Responds } from '@app/http';
import { notFound } from '@app/kernel';
import { BotDeletion } from './bot-deletion.service';
import {
  BotDeletedView,
  BotPath,
  BotRegisteredView,
  BotView,
  ChangeBot,
  RegisterBot,
  RotateWebhookSecret,
  WebhookSecretView,
} from './bots.dto';
import { BotsService } from './bots.service';
import { RegistrationService } from './registration.service';
import { WebhookSecrets } from './webhook-secrets.service';

@ApiTags('Bots')
@Controller('bots')
export class BotsController {
  constructor(
    private readonly registration: RegistrationService,
    private readonly bots: BotsService,
    private readonly deletion: BotDeletion,
    private readonly secrets: WebhookSecrets,
  ) {}

  @Public()
  @Post('register')
  @ApiBody({ type: RegisterBot })
  @Responds(201, BotRegisteredView, ['conflict', 'payload_too_large', 'unsupported_media_type'], true)
  register(@RegistrationBody() body: RegisterBot): Promise<BotRegisteredView> {
    return this.registration.register(body);
  }

  @Get(':bot_id')
  @Responds(200, BotView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() path: BotPath): Promise<BotView> {
    return this.bots.view(own(bot, path));
  }

  @Put(':bot_id')
  @Responds(200, BotView, ['not_found', 'payload_too_large', 'unsupported_media_type'])
  change(@CurrentBot() bot: Caller, @Param() path: BotPath, @Body() body: ChangeBot): Promise<BotView> {
    return this.bots.change(own(bot, path), body);
  }

  @Post(':bot_id/webhook-secret/rotate')
  @Responds(200, WebhookSecretView, ['not_found', 'conflict', 'payload_too_large', 'unsupported_media_type'])
  rotateSecret(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Body() body: RotateWebhookSecret,
  ): Promise<WebhookSecretView> {
    return this.secrets.rotate(own(bot, path), body);
  }

  @Delete(':bot_id')
  @Responds(200, BotDeletedView, ['not_found'])
  async delete(@CurrentBot() bot: Caller, @Param() path: BotPath): Promise<BotDeletedView> {
    const id = own(bot, path);
    const { deletedAt } = await this.deletion.delete(id);
    return { id, deleted: true, deleted_at: deletedAt };
  }
}

/** The path may name the authenticated bot only; any other id is answered like one that does not exist. */
function own(bot: Caller, { bot_id }: BotPath): string {
  if (bot_id.toLowerCase() !== bot.botId) throw notFound('Bot');
  return bot.botId;
}
