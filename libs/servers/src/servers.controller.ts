import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import {
  Caller,
  CurrentBot,
  Describes,
  EvenWhile,
  EXAMPLE,
  GuildPath,
  NoFurtherMethod,
  PageQuery,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { RegisterServer, ServersView, ServerView } from './servers.dto';
import { ServersService } from './servers.service';

@Topic('Servers', 'The guilds (servers) that a bot is in. A user is always one user in one guild.')
@Controller('servers')
export class ServersController {
  constructor(private readonly servers: ServersService) {}

  @Post('register')
  @Describes({
    summary: 'Register a server',
    description:
      'Registers a guild under its platform id. A repeat changes the name if one is given, answers 201 ' +
      'as well, and cancels a scheduled deletion of the guild that has not begun. Consents, data ' +
      'and the deletion of a whole guild need no registered server.',
    examples: { body: { guild_id: EXAMPLE.guild_id, name: 'Garden' } },
  })
  @Responds(201, ServerView)
  register(
    @CurrentBot() bot: Caller,
    @Body() body: RegisterServer,
    @Claimed() claim: Claim,
  ): Promise<ServerView> {
    return this.servers.register(bot.botId, body, claim);
  }

  @NoFurtherMethod('register')
  unknown(): void {}

  @Get()
  @Describes({
    summary: 'List the servers',
    description: 'Answers one page of the registered servers, oldest first.',
  })
  @Responds(200, ServersView)
  list(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<ServersView> {
    return this.servers.list(bot.botId, query);
  }

  @Post(':guild_id/cancel-deletion')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Cancel the scheduled deletion of a server',
    description:
      'Cancels a deletion that was scheduled with `grace_days`. From this answer on nothing is erased ' +
      'by it. Without a scheduled deletion the answer is 409 `nothing_scheduled`; once the deletion ' +
      'has begun it cannot be cancelled, and the answer is 409 `deletion_in_progress`.',
  })
  @Responds(200, ServerView, ['not_found', 'nothing_scheduled', 'deletion_in_progress'])
  cancelDeletion(
    @CurrentBot() bot: Caller,
    @Param() { guild_id: guildId }: GuildPath,
    @Claimed() claim: Claim,
  ): Promise<ServerView> {
    return this.servers.cancelDeletion(bot.botId, guildId, claim);
  }
}
