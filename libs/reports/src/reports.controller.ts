import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  Caller,
  CurrentBot,
  type JsonStream,
  type LetheRequest,
  requireOwnBot,
  Responds,
  type TextStream,
} from '@app/http';
import { BreachScopeQuery, BreachScopeView } from './breach-scope.dto';
import { BreachScopes } from './breach-scope.service';
import { ProcessingRecordPath, ProcessingRecordQuery, ProcessingRecordView } from './processing-record.dto';
import { ProcessingRecords } from './processing-record.service';

const MARKDOWN = 'text/markdown';

@ApiTags('Accountability')
@Controller()
export class ReportsController {
  constructor(
    private readonly records: ProcessingRecords,
    private readonly scopes: BreachScopes,
  ) {}

  @Get('audit/breach-scope')
  @Responds(200, BreachScopeView, ['conflict'])
  breachScope(@CurrentBot() { botId }: Caller, @Query() query: BreachScopeQuery): Promise<BreachScopeView> {
    return this.scopes.of(botId, query);
  }

  @Get('bots/:bot_id/processing-record')
  @Responds(200, ProcessingRecordView, ['not_found'], false, [MARKDOWN])
  record(
    @CurrentBot() bot: Caller,
    @Param() path: ProcessingRecordPath,
    @Query() { format }: ProcessingRecordQuery,
    @Req() request: LetheRequest,
  ): JsonStream | TextStream {
    requireOwnBot(path.bot_id, bot);
    const inMarkdown = format === undefined ? prefersMarkdown(request) : format === 'markdown';
    return inMarkdown ? this.records.asMarkdown(bot.botId) : this.records.asJson(bot.botId);
  }
}

/** JSON unless the caller would rather have Markdown (RFC 9110 section 12.5.1). */
function prefersMarkdown(request: LetheRequest): boolean {
  return request.accepts(['application/json', MARKDOWN]) === MARKDOWN;
}
