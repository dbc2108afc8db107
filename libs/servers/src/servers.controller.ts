import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, PageQuery, Responds } from '@app/common';
import { RegisterServer, ServersView, ServerView } from './servers.dto';
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
}
