import { Claim, Claimed } from '@app/acts';
import { SubjectDigests } from '@app/crypto';
import {
  Caller,
  CurrentBot,
  Describes,
  EvenWhile,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  type Examples,
  RequiresScope,
  Responds,
  SubjectBody,
  SubjectQuery,
  Topic,
  UserPath,
} from '@app/http';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { RefusalsQuery, RefusalsView, RefuseProcessing } from './processing-refusals.dto';
import { ProcessingRefusals } from './processing-refusals.service';

const OBJECTIONS: Examples = {
  canonical: {
    summary: 'Object to every category of legitimate interests or a public task',
    body: EXAMPLE_SUBJECT,
  },
  category: {
    summary: 'Object to one category',
    body: { ...EXAMPLE_SUBJECT, category: 'statistics' },
    answer: {
      ...EXAMPLE_SUBJECT,
      objections: [{ category: 'statistics', since: EXAMPLE.time }],
      restrictions: [],
    },
  },
};

@Topic('User data')
@Controller('data')
export class ProcessingRefusalsController {
  constructor(
    private readonly refusals: ProcessingRefusals,
    private readonly digests: SubjectDigests,
  ) {}

  @Post('object')
  @RequiresScope('erase')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Record that the user objects to the processing',
    description:
      'The user objects to a category whose legal basis is `legitimate_interests` or `public_task` (GDPR Art. 21): ' +
      'what is stored under it is erased, and submits are refused with 403 `processing_refused` and ' +
      '`details.reason` `objection`. Without `category` it is about all categories of these bases, also those ' +
      'that are declared later. For another legal basis the answer is 409 `not_objectable`. An erasure of the user ' +
      'removes the objection, and so does the deletion of the category that it names.',
    examples: OBJECTIONS,
  })
  @Responds(200, RefusalsView, ['not_found', 'not_objectable'])
  object(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: RefuseProcessing,
    @Claimed() claim: Claim,
  ): Promise<RefusalsView> {
    return this.refusals.object(this.refused(bot, body, claim));
  }

  @Post('restrict')
  @EvenWhile('suspended', 'low disk')
  @Describes({
    summary: 'Record that the user restricts the processing',
    description:
      'Keeps what is stored about the user under the category, or without `category` all of it, for export and ' +
      'erasure (GDPR Art. 18): submits and the reading of values are refused with 403 `processing_refused` and ' +
      '`details.reason` `restriction`, until `POST /data/unrestrict`. The user can still correct values on the ' +
      'privacy page. `retention_days` and the erasure after a withdrawal still apply. A repeat is answered with what ' +
      'is in force.',
    examples: { summary: 'Restrict everything', body: EXAMPLE_SUBJECT },
  })
  @Responds(200, RefusalsView, ['not_found'])
  restrict(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: RefuseProcessing,
    @Claimed() claim: Claim,
  ): Promise<RefusalsView> {
    return this.refusals.restrict(this.refused(bot, body, claim));
  }

  @Post('unrestrict')
  @Describes({
    summary: 'Record that the user ends a restriction',
    description:
      'Ends the restriction of the category, or without `category` every restriction of the user. A restriction of ' +
      'everything stays in force when a category is named: the answer says what is in force. Inform the user ' +
      'before a restriction ends (GDPR Art. 18(3)).',
    examples: { summary: 'End every restriction', body: EXAMPLE_SUBJECT },
  })
  @Responds(200, RefusalsView, ['not_found'])
  unrestrict(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: RefuseProcessing,
    @Claimed() claim: Claim,
  ): Promise<RefusalsView> {
    return this.refusals.unrestrict(this.refused(bot, body, claim));
  }

  @Get('refusals/:user_id')
  @Describes({
    summary: 'Read what a user has objected to or restricted',
    description:
      'Answers the objections and restrictions in force about the user. It writes no audit event. Two empty lists ' +
      'mean that nothing is refused, whether the user is known or not.',
    parameters: EXAMPLE_SUBJECT,
  })
  @Responds(200, RefusalsView)
  of(
    @CurrentBot() bot: Caller,
    @Param() { user_id }: UserPath,
    @SubjectQuery() { guild_id }: RefusalsQuery,
  ): Promise<RefusalsView> {
    return this.refusals.of(this.digests.named(bot.botId, { user_id, guild_id }));
  }

  private refused(
    { botId, actor: by }: Caller,
    { user_id, guild_id, category }: RefuseProcessing,
    claim: Claim,
  ): Parameters<ProcessingRefusals['restrict']>[0] {
    const subject = this.digests.named(botId, { user_id, guild_id });
    return { subject, category: category ?? undefined, by, claim };
  }
}
