import { Caller, CurrentBot, Describes, EXAMPLE, type ListPage, Responds, Topic } from '@app/http';
import { Controller, Get, Query } from '@nestjs/common';
import { UsersQuery, UsersView } from './users.dto';
import { UsersService } from './users.service';

@Topic('Users', 'The users about whom a bot has stored anything.')
@Controller('users')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get()
  @Describes({
    summary: 'List the users',
    description:
      'Answers one page of the users about whom anything is held, one item for each user and guild, with what ' +
      '`GET /consents/status` answers. Erased users are left out. A page with `status`, `category` or `order=recent` ' +
      'looks at 500 users at most: it can have fewer items than `page_size`, or none, and `next` continues until it is null. ' +
      'It writes no audit event.',
    parameters: { guild_id: EXAMPLE.guild_id },
  })
  @Responds(200, UsersView, ['not_found'])
  list(@CurrentBot() bot: Caller, @Query() query: UsersQuery): Promise<ListPage> {
    return this.users.list(bot.botId, query);
  }
}
