import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import {
  AdmittedBy,
  Caller,
  CurrentBot,
  Describes,
  EitherShape,
  EvenWhile,
  NoFurtherMethod,
  Public,
  RegistrationBody,
  RequiresScope,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { BotDeletion } from './bot-deletion.service';
import {
  BotDeletedView,
  BotPath,
  BotRegisteredView,
  BotView,
  ChangeBot,
  ownBot,
  RegisterBot,
  RotateWebhookSecret,
  WebhookSecretView,
} from './bots.dto';
import { EXAMPLES } from './bots.examples';
import { BotsService } from './bots.service';
import { RegistrationGuard } from './bots.guards';
import { WebhookSecrets } from './webhook-secrets.service';

@Topic(
  'Bots',
  'A bot is a tenant: it has API keys, a webhook secret, and sees nothing of any other bot. Start with the registration.',
)
@Controller('bots')
export class BotsController {
  constructor(
    private readonly bots: BotsService,
    private readonly deletion: BotDeletion,
    private readonly secrets: WebhookSecrets,
  ) {}

  @Public()
  @Post('register')
  @AdmittedBy(RegistrationGuard)
  @EitherShape(RegisterBot, 'platform_bot_id')
  @Describes({
    summary: 'Register a bot and receive its API key',
    description:
      'Makes the bot a tenant and answers its API key and its webhook secret. Both are shown only ' +
      'here: the service keeps a digest of the key. `notice` sets what the privacy notice says about the bot from ' +
      'its first moment. A repeat with the same `platform_bot_id` is refused with 409 `bot_exists`. The operator ' +
      'can demand a token, sent as `X-Registration-Token` (else 401), or refuse all registrations (404).',
    examples: EXAMPLES.register,
  })
  @Responds(201, BotRegisteredView, ['bot_exists', 'unauthorized', 'not_found'])
  register(@RegistrationBody() body: unknown): Promise<BotRegisteredView> {
    return this.bots.register(body);
  }

  @Get('me')
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'Read the bot of the key',
    description: 'Answers what `GET /bots/{bot_id}` answers, for a caller who knows the key alone.',
  })
  @Responds(200, BotView)
  me(@CurrentBot() bot: Caller): Promise<BotView> {
    return this.bots.view(bot);
  }

  @NoFurtherMethod('register', 'me')
  unknown(): void {}

  @Get(':bot_id')
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'Read the bot',
    description:
      'Answers what is stored about the bot that the key belongs to, and the state of its webhook calls. Any ' +
      'other id is answered with 404, whether a bot has it or not.',
  })
  @Responds(200, BotView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() path: BotPath): Promise<BotView> {
    ownBot(bot, path);
    return this.bots.view(bot);
  }

  @Put(':bot_id')
  @RequiresScope('admin')
  @ApiBody({ type: ChangeBot })
  @Describes({
    summary: 'Change what is given; null clears',
    description:
      'Changes the fields that the body names and leaves the others as they are. `null` removes ' +
      '`privacy_contact` or `webhook_url`. The answer is the whole bot after the change. A repeat has ' +
      'the same result.',
    examples: EXAMPLES.change,
  })
  @Responds(200, BotView, ['not_found'])
  change(@CurrentBot() bot: Caller, @Param() path: BotPath, @Body() body: unknown): Promise<BotView> {
    ownBot(bot, path);
    return this.bots.change(bot, body);
  }

  @Post(':bot_id/webhook-secret/rotate')
  @RequiresScope('admin')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Replace the secret that signs the webhook calls',
    description:
      'Issues a new webhook secret, which is shown only here. Until `overlap_until` calls carry ' +
      'signatures of both secrets, so that no call is lost while the receiver changes over. While two ' +
      'secrets overlap a further rotation is refused with 409 `rotation_in_progress`, unless it ends ' +
      'the overlap with `overlap_seconds` 0.',
    examples: EXAMPLES.rotateSecret,
  })
  @Responds(200, WebhookSecretView, ['not_found', 'rotation_in_progress'])
  rotateSecret(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Body() body: RotateWebhookSecret,
    @Claimed() claim: Claim,
  ): Promise<WebhookSecretView> {
    return this.secrets.rotate(ownBot(bot, path), body, claim);
  }

  @Delete(':bot_id')
  @RequiresScope('admin')
  @Describes({
    summary: 'Delete the bot and all its data; irreversible',
    description:
      'Voids the API keys at once, then deletes everything that the bot has stored: users, consents, ' +
      'categories, webhook calls and its audit log. No webhook is sent. A repeat is answered with 401, ' +
      'since the key no longer exists; afterwards the same `platform_bot_id` can be registered again. A suspended bot ' +
      'cannot be deleted by its key.',
  })
  @Responds(200, BotDeletedView, ['not_found'])
  async delete(@CurrentBot() bot: Caller, @Param() path: BotPath): Promise<BotDeletedView> {
    const id = ownBot(bot, path);
    const { deletedAt } = await this.deletion.delete(id);
    return { id, deleted: true, deleted_at: deletedAt };
  }
}
