import { BotPath } from '@app/bots';
import {
  type AnswerStream,
  Caller,
  CurrentBot,
  Describes,
  type LetheRequest,
  requireOwnBot,
  RequiresScope,
  Responds,
  Topic,
} from '@app/http';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { BreachScopes } from './breach-scope.service';
import { preferred } from './papers';
import { ProcessingRecordQuery, ProcessingRecordView } from './processing-record.dto';
import { ProcessingRecords } from './processing-record.service';
import { ReviewDossierQuery, ReviewDossierView } from './review-dossier.dto';
import { ReviewDossiers } from './review-dossier.service';
import { BreachScopeQuery, BreachScopeView, StatsQuery, StatsView } from './reports.dto';
import { StatsService } from './stats.service';

const MARKDOWN = 'text/markdown';

@Topic('Accountability', 'Reports that a controller owes: to itself, to an authority, to the public.')
@Controller()
export class ReportsController {
  constructor(
    private readonly records: ProcessingRecords,
    private readonly dossiers: ReviewDossiers,
    private readonly scopes: BreachScopes,
  ) {}

  @Get('audit/breach-scope')
  @Describes({
    summary: 'Count the users with recorded acts in the period of a breach (GDPR Art. 33)',
    description:
      'Counts the users and guilds with a recorded act in a period, and records by category, for the notification ' +
      'of a breach (GDPR Art. 33(3)(a)). Reads of values and copies of the database leave no record: such a breach ' +
      'can concern every user about whom Lethe holds anything, also a consent alone: `records_held` counts the stored ' +
      'values of now, one for each user, guild and category, and not the users. ' +
      'The answer holds numbers only and names no user; `exact` says whether large numbers are estimates. While a report of the bot is being ' +
      'made a further one is refused with 409 `report_in_progress`.',
    parameters: { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' },
  })
  @Responds(200, BreachScopeView, ['report_in_progress'])
  breachScope(@CurrentBot() { botId }: Caller, @Query() query: BreachScopeQuery): Promise<BreachScopeView> {
    return this.scopes.of(botId, query);
  }

  @Get('bots/:bot_id/processing-record')
  @Describes({
    summary: 'Record of processing activities (GDPR Art. 30), as JSON, Markdown or HTML',
    description:
      'Answers the record that GDPR Art. 30(1) asks for, as far as the service can give it: what the bot ' +
      'has declared, and what this installation does with it. `format=markdown` or `format=html`, or an ' +
      '`Accept` header that prefers one of them, answers a document to keep or to print, which ends with what ' +
      'is still missing. The JSON without `language` names the bot as `controller`; with it, `notice_settings` has the ' +
      'controller. A repeat answers the present state.',
  })
  @Responds(200, ProcessingRecordView, ['not_found'], [MARKDOWN, 'text/html'])
  record(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Query() { format, language }: ProcessingRecordQuery,
    @Req() request: LetheRequest,
  ): AnswerStream {
    requireOwnBot(path.bot_id, bot);
    return this.records.of(bot.botId, format ?? preferred(request), language);
  }

  @Get('bots/:bot_id/review-dossier')
  @Describes({
    summary: 'Dossier for the review of the bot by its platform, as JSON, Markdown or HTML',
    description:
      'Answers the questions of a platform before it grants privileged intents: the stored data, its retention and ' +
      'legal basis, the encryption, who has access, and erasure on request with the numbers of the ' +
      'last 90 days. Its sources are the declarations of the bot and the settings of this installation; ' +
      '`to_add` and `gaps` name what is missing. `format` and the `Accept` header are as in the record of ' +
      'processing activities. A repeat answers the present state.',
  })
  @Responds(200, ReviewDossierView, ['not_found'], [MARKDOWN, 'text/html'])
  dossier(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Query() { format, language }: ReviewDossierQuery,
    @Req() request: LetheRequest,
  ): Promise<AnswerStream> {
    requireOwnBot(path.bot_id, bot);
    return this.dossiers.of(bot.botId, format ?? preferred(request), language ?? 'en');
  }
}

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
      'counted. The numbers are kept for 400 days, also where the events are removed earlier. ' +
      '`under_consent` is the number of users in guilds whose consent was in force at the end of each day.',
    parameters: { bucket: 'day' },
  })
  @Responds(200, StatsView)
  read(@CurrentBot() { botId }: Caller, @Query() query: StatsQuery): Promise<StatsView> {
    return this.stats.of(botId, query);
  }
}
