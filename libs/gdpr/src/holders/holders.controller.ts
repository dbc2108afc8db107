import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { Caller, CurrentBot, Describes, KeyPath, PageQuery, RequiresScope, Responds, Topic } from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { BotHoldersService } from './bot-holders.service';
import {
  ChangeHolder,
  HolderDeletedView,
  HolderDeletionQuery,
  HoldersView,
  HolderView,
  RegisterHolder,
} from './holders.dto';

const HOLDER = {
  key: 'database',
  kind: 'pull',
  covers: ['levels', 'warnings'],
  label_de: 'Datenbank des Bots',
  label_en: 'Database of the bot',
  public_key: null,
};

@Topic(
  'Holders',
  "The bot's own stores, such as its database. Each gets a task for every erasure, and answers it (GDPR Art. 17 and 19).",
)
@Controller('holders')
export class HoldersController {
  constructor(private readonly holders: BotHoldersService) {}

  @Post()
  @RequiresScope('admin')
  @Describes({
    summary: 'Register a store of the bot as a holder',
    description:
      'Registers a store in which the bot keeps data about users itself. Every erasure that is completed after this answer makes a ' +
      'task for it. With a `public_key` each of its answers has to be signed. A key that is registered already is refused ' +
      'with 409 `holder_exists`, the 21st holder with 409 `limit_reached`, and the kind `webhook` of a bot without `webhook_url` with ' +
      '409 `no_webhook_url`.',
    examples: { body: HOLDER },
  })
  @Responds(201, HolderView, ['holder_exists', 'limit_reached', 'no_webhook_url'])
  register(
    @CurrentBot() bot: Caller,
    @Body() body: RegisterHolder,
    @Claimed() claim: Claim,
  ): Promise<HolderView> {
    return this.holders.register(bot.botId, body, claim);
  }

  @Get()
  @Describes({
    summary: 'List the holders of the bot',
    description: 'Answers one page of the holders in the order of their keys, each with what is open for it.',
  })
  @Responds(200, HoldersView)
  list(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<HoldersView> {
    return this.holders.list(bot.botId, query);
  }

  @Get(':key')
  @Describes({
    summary: 'Read a holder of the bot',
    description: 'Answers one holder with what is open for it. An unknown key is answered with 404.',
    parameters: { key: HOLDER.key },
  })
  @Responds(200, HolderView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() { key }: KeyPath): Promise<HolderView> {
    return this.holders.view(bot.botId, key);
  }

  @Put(':key')
  @RequiresScope('admin')
  @Describes({
    summary: 'Change a holder of the bot',
    description:
      'Changes what the body names; null clears `public_key`. What was answered before keeps the labels and the key that it was ' +
      'answered with. A changed `kind` is about the tasks that are made from then on. A repeat has the same result.',
    parameters: { key: HOLDER.key },
    examples: { body: { label_en: 'Database on the server of the bot' } },
  })
  @Responds(200, HolderView, ['not_found', 'no_webhook_url'])
  change(
    @CurrentBot() bot: Caller,
    @Param() { key }: KeyPath,
    @Body() body: ChangeHolder,
  ): Promise<HolderView> {
    return this.holders.change(bot.botId, key, body);
  }

  @Delete(':key')
  @RequiresScope('admin')
  @Describes({
    summary: 'Delete a holder of the bot',
    description:
      'Deletes the holder; its answers stay with their erasures. While tasks are open the answer is 409 `holder_has_open_tasks`, ' +
      'unless `abandon` is true: they get the result `abandoned`, which the erasures show. Without it, tasks of erasures that are ' +
      'completed after the deletion has begun to remove something get it, too. If the call is interrupted, it may have removed a part: repeat it with `abandon=true`. Once the holder is deleted a repeat is answered with 404.',
    parameters: { key: HOLDER.key },
  })
  @Responds(200, HolderDeletedView, ['not_found', 'holder_has_open_tasks'])
  delete(
    @CurrentBot() bot: Caller,
    @Param() { key }: KeyPath,
    @Query() { abandon }: HolderDeletionQuery,
  ): Promise<HolderDeletedView> {
    return this.holders.delete(bot.botId, key, abandon === 'true');
  }
}
