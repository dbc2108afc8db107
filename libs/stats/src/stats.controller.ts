import { Controller, Get, Query } from '@nestjs/common';
import { Caller, CurrentBot, Describes, RequiresScope, Responds, Topic } from '@app/http';
import { StatsQuery, StatsView } from './stats.dto';
import { EXAMPLES } from './stats.examples';
import { StatsService } from './stats.service';

@Topic('Stats', 'What happened over time, in numbers that name no user.')
@Controller('stats')
export class StatsController {
  constructor(private readonly stats: StatsService) {}

  @Get()
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'Count acts, webhook calls and erasures by hour or day',
    description:
      'Answers for each hour or day (UTC) the number of audit events of the service, the ends of webhook ' +
      'calls and the durations of erasures, up to this moment. Events that the bot has posted are not ' +
      'counted. The numbers are kept for 400 days, also where the events are removed earlier.',
    parameters: { bucket: 'day' },
    examples: EXAMPLES.stats,
  })
  @Responds(200, StatsView)
  read(@CurrentBot() { botId }: Caller, @Query() query: StatsQuery): Promise<StatsView> {
    return this.stats.of(botId, query);
  }
}
