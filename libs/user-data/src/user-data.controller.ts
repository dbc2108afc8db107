import { Body, Controller, Post } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import {
  BatchBody,
  Caller,
  Counted,
  CurrentBot,
  Describes,
  EitherShape,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  type Examples,
  ItemErrorView,
  Quota,
  Responds,
  SubjectBody,
  Topic,
} from '@app/http';
import { Acts, Claim, Claimed } from '@app/acts';
import { SubmitBatches } from './submit-batch.service';
import { SubmitAct } from './submit.act';
import { SubmitBatch, SubmitData, SubmittedBatchView, SubmittedView } from './user-data.dto';

const PROFILE = { ...EXAMPLE_SUBJECT, category: EXAMPLE.category };
const VALUES = { nickname: 'Robin', birthday: '2000-02-29' };
const STORED = { ...PROFILE, stored: true, updated_at: EXAMPLE.time };

const EXAMPLES = {
  submit: {
    canonical: {
      summary: 'Replace what is stored under the category',
      body: { ...PROFILE, data: VALUES },
      answer: STORED,
    },
    merge: {
      summary: 'Change one field and leave the others as they are',
      body: { ...PROFILE, data: { nickname: 'Robbie' }, mode: 'merge' },
      answer: STORED,
    },
    guide: {
      summary: 'With bot_id in place of guild_id: the scope of the whole bot',
      body: {
        bot_id: EXAMPLE.platform_bot_id,
        user_id: EXAMPLE.user_id,
        category: 'levels',
        data: { experience: 1200 },
      },
      answer: { ...STORED, guild_id: '00000000000000000', category: 'levels' },
    },
  },
  submitBatch: {
    canonical: {
      body: {
        items: [
          { ...PROFILE, data: VALUES },
          { ...PROFILE, category: 'unknown', data: { level: 3 } },
        ],
      },
      answer: {
        results: [
          { ok: true, data: STORED },
          { ok: false, error: { code: 'not_found', message: 'Category not found' } },
        ],
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;

@Topic('User data', 'Values of users, stored by category under a consent.')
@Controller('data')
export class UserDataController {
  constructor(
    private readonly acts: Acts,
    private readonly submitting: SubmitAct,
    private readonly batches: SubmitBatches,
  ) {}

  @Post('submit')
  @EitherShape(SubmitData, 'guild_id')
  @Describes({
    summary: 'Store data of a user who has consented',
    description:
      'Stores the values of one category of one user, encrypted with a key of that user. The consent ' +
      'is checked in the same transaction: without one the answer is 403 and nothing is stored. `data` ' +
      'replaces what was stored under the category; with `mode` `merge` only the named fields change ' +
      '(RFC 7396), and `null` removes a field. A repeat has the same result and is recorded as a ' +
      'further audit event.',
    examples: EXAMPLES.submit,
  })
  @Responds(200, SubmittedView, ['consent_required', 'not_found'])
  async submit(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: SubmitData,
    @Claimed() claim: Claim,
  ): Promise<SubmittedView> {
    return this.acts.run(this.submitting, this.submitting.of(bot.botId, body), claim);
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
      'repeat with the same `Idempotency-Key` does what has not taken effect and replays the rest.',
    examples: EXAMPLES.submitBatch,
  })
  @Responds(200, SubmittedBatchView)
  submitBatch(
    @CurrentBot() bot: Caller,
    @Body() { items }: SubmitBatch,
    @Claimed() claim: Claim,
    @Counted() quota: Quota,
  ): Promise<SubmittedBatchView> {
    return this.batches.submit(bot.botId, items, claim, quota);
  }
}
