import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import {
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  type JsonStream,
  type LetheRequest,
  requireOwnBot,
  Responds,
  type TextStream,
  Topic,
} from '@app/http';
import { BreachScopeQuery, BreachScopeView } from './breach-scope.dto';
import { BreachScopes } from './breach-scope.service';
import { ProcessingRecordPath, ProcessingRecordQuery, ProcessingRecordView } from './processing-record.dto';
import { ProcessingRecords } from './processing-record.service';
import { EXAMPLES } from './reports.examples';
import { RetentionPreview } from './retention-preview';
import { RetentionPreviewPath, RetentionPreviewQuery, RetentionPreviewView } from './retention-preview.dto';

const MARKDOWN = 'text/markdown';

@Topic('Accountability', 'Reports that a controller owes: to itself, to an authority, to the public.')
@Controller()
export class ReportsController {
  constructor(
    private readonly records: ProcessingRecords,
    private readonly scopes: BreachScopes,
    private readonly previews: RetentionPreview,
  ) {}

  @Get('audit/breach-scope')
  @Describes({
    summary: 'Count the users that a breach concerns (GDPR Art. 33)',
    description:
      'Counts the users, guilds and records that were acted on in a period, in total and by category, ' +
      'for the notification of a breach (GDPR Art. 33(3)(a)). The answer holds numbers only and names ' +
      'no user. `exact` says whether large numbers are estimates. While a report of the bot is being ' +
      'made a further one is refused with 409 `report_in_progress`.',
    parameters: { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' },
    examples: EXAMPLES.breachScope,
  })
  @Responds(200, BreachScopeView, ['report_in_progress'])
  breachScope(@CurrentBot() { botId }: Caller, @Query() query: BreachScopeQuery): Promise<BreachScopeView> {
    return this.scopes.of(botId, query);
  }

  @Get('bots/:bot_id/processing-record')
  @Describes({
    summary: 'Record of processing activities (GDPR Art. 30), as JSON or Markdown',
    description:
      'Answers the record that GDPR Art. 30(1) asks for, as far as the service can give it: what the bot ' +
      'has declared, and what this installation does with it. `format=markdown`, or an `Accept` header ' +
      'that prefers `text/markdown`, answers a document to keep, and `language=de` its sentences in German. A repeat ' +
      'answers the present state.',
    parameters: { bot_id: EXAMPLE.bot_id },
    examples: EXAMPLES.record,
  })
  @Responds(200, ProcessingRecordView, ['not_found'], [MARKDOWN])
  record(
    @CurrentBot() bot: Caller,
    @Param() path: ProcessingRecordPath,
    @Query() { format, language = 'en' }: ProcessingRecordQuery,
    @Req() request: LetheRequest,
  ): JsonStream | TextStream {
    requireOwnBot(path.bot_id, bot);
    const inMarkdown = format === undefined ? prefersMarkdown(request) : format === 'markdown';
    return inMarkdown
      ? this.records.asMarkdown(bot.botId, language)
      : this.records.asJson(bot.botId, language);
  }

  @Get('bots/:bot_id/retention-preview')
  @Describes({
    summary: 'Count what retention would erase',
    description:
      'Counts the values, guilds and records that the jobs of retention would erase now, or with `in_days` ' +
      'until that day if they are not changed before. The answer holds numbers only, names no user and ' +
      'erases nothing. While a report of the bot is being made a further one is refused with 409 ' +
      '`report_in_progress`.',
    parameters: { bot_id: EXAMPLE.bot_id, in_days: 30 },
    examples: EXAMPLES.retentionPreview,
  })
  @Responds(200, RetentionPreviewView, ['not_found', 'report_in_progress'])
  preview(
    @CurrentBot() bot: Caller,
    @Param() path: RetentionPreviewPath,
    @Query() { in_days: days }: RetentionPreviewQuery,
  ): Promise<RetentionPreviewView> {
    requireOwnBot(path.bot_id, bot);
    return this.previews.asReport(bot.botId, Number(days ?? 0));
  }
}

/** True when the caller prefers Markdown to JSON (RFC 9110 section 12.5.1). */
function prefersMarkdown(request: LetheRequest): boolean {
  return request.accepts(['application/json', MARKDOWN]) === MARKDOWN;
}
