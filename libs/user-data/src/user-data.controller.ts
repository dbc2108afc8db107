import { Acts, Claim, Claimed } from '@app/acts';
import { SubjectDigests } from '@app/crypto';
import {
  type AnswerStream,
  BatchBody,
  Caller,
  Counted,
  CurrentBot,
  Describes,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  ItemErrorView,
  type JsonText,
  type ListPage,
  Quota,
  RequiresScope,
  Responds,
  SubjectBody,
  SubjectQuery,
  Topic,
  UserPath,
} from '@app/http';
import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { SubmitBatches } from './submit-batch.service';
import { SubmitAct } from './submit.act';
import {
  EraseValuesQuery,
  GuildValuesQuery,
  GuildValuesView,
  SubmitBatch,
  SubmitData,
  SubmittedBatchView,
  SubmittedView,
  ValuesErasedView,
  ValuesQuery,
  ValuesView,
} from './user-data.dto';
import { EXAMPLES } from './user-data.examples';
import { UserValues } from './user-values.service';

@Topic('User data', 'Values of users, stored by category under a consent.')
@Controller('data')
export class UserDataController {
  constructor(
    private readonly acts: Acts,
    private readonly submitting: SubmitAct,
    private readonly batches: SubmitBatches,
  ) {}

  @Post('submit')
  @Describes({
    summary: 'Store data of a user who has consented',
    description:
      'Stores the values of one category of one user, encrypted with a key of that user. The consent ' +
      'is checked in the same transaction: without one the answer is 403 and nothing is stored. A category with ' +
      '`requires_consent: false` needs none; during an erasure of its user the answer is 409 `deletion_in_progress`. `data` ' +
      'replaces what was stored under the category; with `mode` `merge` only the named fields change ' +
      '(RFC 7396), and `null` removes a field. A repeat has the same result and is recorded as a ' +
      'further audit event.',
    examples: EXAMPLES.submit,
  })
  @Responds(200, SubmittedView, [
    'consent_required',
    'processing_refused',
    'not_found',
    'deletion_in_progress',
  ])
  async submit(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: SubmitData,
    @Claimed() claim: Claim,
  ): Promise<SubmittedView> {
    return this.acts.run(this.submitting, this.submitting.of(bot, body), claim);
  }

  @Post('submit/batch')
  @BatchBody()
  @ApiExtraModels(SubmittedView, ItemErrorView)
  @Describes({
    summary: 'Store data of many users at once',
    description:
      'Does each of 1 to 100 `items`, which are bodies of `POST /data/submit`, by itself: its result is at ' +
      'its place, with the error that the single request would have. Items about one user and guild take ' +
      'effect in their order. The answer is sent when all are durable, and is 200 also when every item is ' +
      'refused. Each item counts as one request; if fewer are left the answer is 429 and nothing is done. A ' +
      'repeat with the same `Idempotency-Key` replays what was stored or refused and does the rest, which ended ' +
      'with 500, 503 or without an answer; an item that would undo a later stored one is 409 `superseded`.',
    examples: EXAMPLES.submitBatch,
  })
  @Responds(200, SubmittedBatchView)
  submitBatch(
    @CurrentBot() bot: Caller,
    @Body() { items }: SubmitBatch,
    @Claimed() claim: Claim,
    @Counted() quota: Quota,
  ): Promise<SubmittedBatchView> {
    return this.batches.submit(bot, items, claim, quota);
  }
}

const OF_GUILD = { guild_id: EXAMPLE.guild_id, category: EXAMPLE.category };
const OF_USER = { ...EXAMPLE_SUBJECT, category: EXAMPLE.category };

@Topic('User data')
@Controller('data/values')
export class UserValuesController {
  constructor(
    private readonly values: UserValues,
    private readonly digests: SubjectDigests,
  ) {}

  @Get()
  @Describes({
    summary: 'Read one category of all users of a guild',
    description:
      'Answers one page of what is stored under the category, in a fixed order, of the users whose ' +
      'consent in force covers it, but for those who have restricted it: each once. A bot that looks for today’s birthdays needs no second copy. It ' +
      'writes no audit event. A value that cannot be decrypted has `data` null and `unreadable` true.',
    parameters: OF_GUILD,
  })
  @Responds(200, GuildValuesView, ['not_found'])
  ofGuild(@CurrentBot() bot: Caller, @SubjectQuery() query: GuildValuesQuery): Promise<ListPage> {
    return this.values.ofGuild(bot.botId, query);
  }

  @Get(':user_id')
  @Describes({
    summary: 'Read what is stored about a user',
    description:
      'Answers the stored values by category, for the processing of the bot itself: of all categories that the ' +
      'consent in force covers, or of one. Without such a consent, and for what the user has restricted, the answer ' +
      'is 403; of all categories the restricted ones are left out. It writes no audit event; ' +
      'to answer a user (GDPR Art. 15) use the export.',
    parameters: OF_USER,
  })
  @Responds(200, ValuesView, ['consent_required', 'processing_refused', 'not_found', 'deletion_in_progress'])
  ofUser(
    @CurrentBot() bot: Caller,
    @Param() { user_id }: UserPath,
    @SubjectQuery() { guild_id, category }: ValuesQuery,
  ): Promise<JsonText | AnswerStream> {
    return this.values.ofUser(this.digests.named(bot.botId, { user_id, guild_id }), category);
  }

  @Delete(':user_id')
  @RequiresScope('erase')
  @Describes({
    summary: 'Erase one category of a user',
    description:
      'Erases what is stored about the user under the category, whether the consent is in force or not, and ' +
      'records `data_deleted`. The consent stays: a later submit stores again. A repeat is answered with ' +
      '`deleted` false. To erase everything about a user (GDPR Art. 17) use `POST /gdpr/forget-user`.',
    parameters: OF_USER,
  })
  @Responds(200, ValuesErasedView, ['not_found'])
  async erase(
    @CurrentBot() bot: Caller,
    @Param() { user_id }: UserPath,
    @SubjectQuery() { guild_id, category }: EraseValuesQuery,
  ): Promise<ValuesErasedView> {
    const subject = this.digests.named(bot.botId, { user_id, guild_id });
    return { deleted: await this.values.erase(subject, category, bot.actor) };
  }
}
