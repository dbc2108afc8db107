import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, PageQuery, Responds } from '@app/http';
import { RegisterServer, ServerPath, ServersView, ServerView } from './servers.dto';
import { ServersService } from './servers.service';

@ApiTags('Servers')
@Controller('servers')
export class ServersController {
  constructor(private readonly servers: ServersService) {}

  @Post('register')
  @Responds(201, ServerView, ['payload_too_large', 'unsupported_media_type'])
  register(@CurrentBot() bot: Caller, @Body() body: RegisterServer): Promise<ServerView> {
    return this.servers.register(bot.botId, body);
  }

  @Get()
  @Responds(200, ServersView)
  list(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<ServersView> {
    return this.servers.list(bot.botId, query);
  }

  @Post(':guild_id/cancel-deletion')
  @Responds(200, ServerView, ['not_found', 'conflict', 'payload_too_large', 'unsupported_media_type'])
  cancelDeletion(@CurrentBot() bot: Caller, @Param() { guild_id: guildId }: ServerPath): Promise<ServerView> {
    return this.servers.cancelDeletion(bot.botId, guildId);
  }
}
