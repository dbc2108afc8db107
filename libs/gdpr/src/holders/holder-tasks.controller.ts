import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import {
  Caller,
  CurrentBot,
  Describes,
  EvenWhile,
  EXAMPLE,
  KeyPath,
  type ListPage,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { HolderTasksService } from './holder-tasks.service';
import { AcknowledgeTask, TaskPath, TasksQuery, TasksView, TaskView } from './holder-tasks.dto';

@Topic('Holders')
@Controller('holders/:key/tasks')
export class HolderTasksController {
  constructor(private readonly tasks: HolderTasksService) {}

  @Get()
  @Describes({
    summary: 'List the tasks of a holder',
    description:
      'Answers one page of the open tasks, oldest first, each with the ids of a user to erase in the store (`act` is erase). Behind them ' +
      'those with the `act` export follow, which ask what the store has about the user. A task stays in the list until it ' +
      'has a final answer, so that a store that was away misses none. With `since` the erasures that were answered at or after that time ' +
      'follow: after the store was restored from a backup of that time, they have to be carried out again.',
    parameters: { key: 'database' },
  })
  @Responds(200, TasksView, ['not_found'])
  list(@CurrentBot() bot: Caller, @Param() { key }: KeyPath, @Query() query: TasksQuery): Promise<ListPage> {
    return this.tasks.list(bot.botId, key, query);
  }

  @Post(':task_id/acknowledge')
  @EvenWhile('suspended')
  @Describes({
    summary: 'Answer a task of a holder',
    description:
      'Records what the store has done: `erased`, `nothing`, `kept` with its legal basis (GDPR Art. 17(3)), or `failed`, which leaves the ' +
      'task open. The same final answer again changes nothing; another one is refused with 409 `task_answered`, except that `erased`, ' +
      '`nothing`, or `kept` until a later time can follow `kept`. A holder with a `public_key` signs `statement`: a compact JWS with the header ' +
      '`{"alg":"EdDSA","typ":"lethe-holder-answer+jwt"}` over `bot_id`, `holder`, `task_id`, `result`, `counts`, `kept` and `at`. ' +
      'A task with the `act` export takes `exported` with `data`, `nothing` or `failed`, and is 404 after an erasure of the user; with data its ' +
      'statement has `data_digest` too: the SHA-256, in base64url, of the data as compact JSON.',
    parameters: { key: 'database', task_id: EXAMPLE.request_id },
    examples: { body: { result: 'erased', counts: { levels: 1, warnings: 2 } } },
  })
  @Responds(200, TaskView, ['not_found', 'task_answered'])
  acknowledge(
    @CurrentBot() bot: Caller,
    @Param() path: TaskPath,
    @Body() body: AcknowledgeTask,
    @Claimed() claim: Claim,
  ): Promise<TaskView> {
    return this.tasks.acknowledge(bot.botId, path, body, claim);
  }
}
