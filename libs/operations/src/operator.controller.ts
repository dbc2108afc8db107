import { Body, Controller, Get, Param, Post, Put, Query, Req } from '@nestjs/common';
import {
  type AnswerStream,
  Describes,
  EvenWhile,
  EXAMPLE,
  ForOperator,
  IdPath,
  type LetheRequest,
  type ListPage,
  PageQuery,
  Responds,
  RespondsLines,
  Topic,
} from '@app/http';
import { LedgerDownload } from './ledger-download.service';
import { OperatedBots } from './operated-bots.service';
import {
  FindingsView,
  LedgerLine,
  OperatedBotList,
  OperatedBotView,
  SetTierDto,
  StatusView,
  StorageView,
} from './operator.dto';
import { OperatorStatus } from './operator-status.service';
import { Storage } from './storage.service';

@Topic(
  'Operator',
  'The whole installation, for its operator: with the token of `OPERATOR_TOKEN` in place of an API key. Without this ' +
    'setting the paths do not exist. No answer has an id of a user, a value, a key or a secret.',
)
@ForOperator()
@Controller('operator')
export class OperatorController {
  constructor(
    private readonly status: OperatorStatus,
    private readonly storage: Storage,
    private readonly bots: OperatedBots,
    private readonly ledger: LedgerDownload,
  ) {}

  @Get('status')
  @Describes({
    summary: 'Read the state of the installation',
    description:
      'Answers versions, migrations, what waits, and what readiness calls degraded, with what to do. One reading of the ' +
      'database serves all callers for 5 seconds.',
  })
  @Responds(200, StatusView)
  state(): Promise<StatusView> {
    return this.status.view();
  }

  @Get('findings')
  @Describes({
    summary: 'Look for what operators forget',
    description:
      'Answers what `doctor` of the command line finds in the settings, the files beside the database and the database, with ' +
      'what to do. One reading serves all callers for a minute.',
  })
  @Responds(200, FindingsView)
  findings(): Promise<FindingsView> {
    return this.status.findings();
  }

  @Get('storage')
  @Describes({
    summary: 'Read the size of the installation over time',
    description: 'Answers the size of the database now, and a sample for each day, kept for 400 days.',
  })
  @Responds(200, StorageView)
  sizes(): Promise<StorageView> {
    return this.storage.view();
  }

  @Get('bots')
  @Describes({
    summary: 'List all bots',
    description:
      'Answers the bots in the order of their ids, with tier, state and size. Subjects and values are counted up to ' +
      '10,000: this number means as many or more.',
  })
  @Responds(200, OperatedBotList)
  list(@Query() query: PageQuery): Promise<ListPage> {
    return this.bots.list(query);
  }

  @Post('bots/:id/suspend')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Suspend a bot',
    description:
      'Until it is resumed the bot can read, export, erase, record withdrawals, objections and restrictions, make privacy links, and ' +
      'answer the tasks of its holders; nothing else works, and its webhook calls wait. The ' +
      'answer comes when this holds in every process. A repeat changes nothing.',
    parameters: { id: EXAMPLE.bot_id },
  })
  @Responds(200, OperatedBotView, ['not_found'])
  suspend(@Param() { id }: IdPath): Promise<OperatedBotView> {
    return this.bots.suspend(id);
  }

  @Post('bots/:id/resume')
  @EvenWhile('low disk')
  @Describes({
    summary: 'End the suspension of a bot',
    description: 'The webhook calls that have waited are sent. A repeat changes nothing.',
    parameters: { id: EXAMPLE.bot_id },
  })
  @Responds(200, OperatedBotView, ['not_found'])
  resume(@Param() { id }: IdPath): Promise<OperatedBotView> {
    return this.bots.resume(id);
  }

  @Put('bots/:id/tier')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Give a bot a tier',
    description:
      'The tier sets the requests per minute of the bot. It holds in every process when the answer comes. `GET /operator/status` ' +
      'lists the tiers. A repeat changes nothing.',
    parameters: { id: EXAMPLE.bot_id },
    examples: { body: { tier: 'high' } },
  })
  @Responds(200, OperatedBotView, ['not_found'])
  setTier(@Param() { id }: IdPath, @Body() { tier }: SetTierDto): Promise<OperatedBotView> {
    return this.bots.setTier(id, tier);
  }

  @Get('ledger')
  @Describes({
    summary: 'Export the ledger of all erasures',
    description:
      'Answers the file of `ledger:export` line by line, with digests in place of ids. Keep it apart from the backups: after ' +
      'a restore `ledger:import` reads it, so that who was erased stays erased.',
  })
  @RespondsLines(LedgerLine)
  exported(@Req() { method }: LetheRequest): AnswerStream {
    return this.ledger.stream(method !== 'HEAD');
  }
}
