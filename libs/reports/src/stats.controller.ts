import { Controller, Get, Query } from '@nestjs/common';
import { Caller, CurrentBot, Describes, type Examples, RequiresScope, Responds, Topic } from '@app/http';
import { StatsQuery, StatsView } from './reports.dto';
import { StatsService } from './stats.service';

const EXAMPLES = {
  canonical: {
    answer: {
      buckets: [
        {
          at: '2026-11-20T00:00:00.000Z',
          counts: {
            consent_requested: 4,
            consent_accepted: 3,
            consent_revoked: 1,
            data_submitted: 12,
            data_exported: 1,
            data_deleted: 0,
            deletion_requested: 2,
            deletion_completed: 2,
            deletion_failed: 0,
          },
          webhooks: { delivered: 3, failed: 1, exhausted: 0 },
          erasure_ms: { p50: 9, p95: 14, max: 14 },
        },
      ],
    },
  },
} satisfies Examples;

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
    examples: EXAMPLES,
  })
  @Responds(200, StatsView)
  read(@CurrentBot() { botId }: Caller, @Query() query: StatsQuery): Promise<StatsView> {
    return this.stats.of(botId, query);
  }
}
