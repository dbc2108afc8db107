import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import {
  Caller,
  CurrentBot,
  Describes,
  EvenWhile,
  NoFurtherMethod,
  PageQuery,
  RequiresScope,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { ApiKeys } from './api-keys.service';
import {
  ApiKeyCreatedView,
  ApiKeyDeletedView,
  ApiKeyPath,
  ApiKeyRotatedView,
  ApiKeysView,
  BotPath,
  NewApiKey,
  ownBot,
  RotateApiKey,
} from './bots.dto';

@Topic('Bots')
@Controller('bots/:bot_id/keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeys) {}

  @Get()
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'List the valid API keys of the bot, newest first',
    description:
      'Answers what the keys are called and allow, until when, and when they were last used; never the keys themselves. A deleted ' +
      'or expired key is not listed. A bot has at most five.',
  })
  @Responds(200, ApiKeysView, ['not_found'])
  list(@CurrentBot() bot: Caller, @Param() path: BotPath, @Query() query: PageQuery): Promise<ApiKeysView> {
    return this.keys.list(ownBot(bot, path), query);
  }

  @Post()
  @RequiresScope('admin')
  @Describes({
    summary: 'Make a further API key, with all scopes or some of them',
    description:
      'Answers a new key, which is shown only here. A key grants no scope that it lacks: else the answer is 403 ' +
      '`insufficient_scope`. All keys of a bot share one rate limit. A repeat makes another key, until the sixth is refused ' +
      'with 409 `limit_reached`.',
    examples: { body: { name: 'Worker of the bot', scopes: ['read', 'write'] } },
  })
  @Responds(201, ApiKeyCreatedView, ['not_found', 'limit_reached'])
  create(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Body() body: NewApiKey,
    @Claimed('key') claim: Claim,
  ): Promise<ApiKeyCreatedView> {
    ownBot(bot, path);
    return this.keys.create(bot, body, claim);
  }

  @Post('rotate')
  @EvenWhile('low disk')
  @RequiresScope('admin')
  @Describes({
    summary: 'Replace the API key of this call',
    description:
      'Answers a new key with the name, the scopes and the expiry of the key that this call is made with; it is shown only here. ' +
      'The old one is void at `overlap_until`, or with `overlap_seconds` 0 when this is answered. A key is rotated once: a ' +
      'repeat with the old key is refused with 409 `rotation_in_progress`.',
    examples: { body: { overlap_seconds: 86400 } },
  })
  @Responds(201, ApiKeyRotatedView, ['not_found', 'rotation_in_progress', 'limit_reached'])
  rotate(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Body() body: RotateApiKey,
    @Claimed('key') claim: Claim,
  ): Promise<ApiKeyRotatedView> {
    ownBot(bot, path);
    return this.keys.rotate(bot, body, claim);
  }

  @NoFurtherMethod('rotate')
  unknown(): void {}

  @Delete(':key_id')
  @RequiresScope('admin')
  @Describes({
    summary: 'Void an API key',
    description:
      'The key is 401 in every process when this is answered. The last key of scope `admin` without `expires_at` is ' +
      'refused with 409 `last_admin_key`, so that the bot does not lock itself out. A repeat is answered with 404.',
  })
  @Responds(200, ApiKeyDeletedView, ['not_found', 'last_admin_key'])
  delete(@CurrentBot() bot: Caller, @Param() path: ApiKeyPath): Promise<ApiKeyDeletedView> {
    ownBot(bot, path);
    return this.keys.delete(bot, path.key_id.toLowerCase());
  }
}
