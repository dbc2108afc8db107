import { SubjectDigests } from '@app/crypto';
import {
  Caller,
  Counted,
  CurrentBot,
  Describes,
  EvenWhile,
  EXAMPLE_SUBJECT,
  type ListPage,
  Quota,
  RequiresScope,
  Responds,
  SubjectBody,
  SubjectQuery,
  Topic,
} from '@app/http';
import { Acts, Claim, Claimed } from '@app/acts';
import { Body, Controller, Get, Post } from '@nestjs/common';
import { ConsentDeclineAct } from './consent-decline.act';
import { ConsentReceipts } from './consent-receipts.service';
import { ConsentRequestAct } from './consent-request.act';
import { ConsentRevokeAct } from './consent-revoke.act';
import {
  AcceptConsent,
  AcceptedConsentView,
  ConsentDeclinedView,
  ConsentHistoryQuery,
  ConsentHistoryView,
  ConsentQuery,
  ConsentReceiptView,
  ConsentRequestedView,
  ConsentStatusView,
  ConsentView,
  DeclineConsent,
  RequestConsent,
  RevokeConsent,
  StatusBatch,
  StatusBatchView,
} from './consent.dto';
import { EXAMPLES } from './consent.examples';
import { ConsentService } from './consent.service';

/** As many users of a batch count as one request. */
const USERS_PER_REQUEST = 10;

@Topic(
  'Consent',
  'Consent of one user in one guild (GDPR Art. 6(1)(a) and 7): asked, accepted, revoked, and provable afterwards.',
)
@Controller('consents')
export class ConsentController {
  constructor(
    private readonly acts: Acts,
    private readonly requesting: ConsentRequestAct,
    private readonly declining: ConsentDeclineAct,
    private readonly revoking: ConsentRevokeAct,
    private readonly consents: ConsentService,
    private readonly receipts: ConsentReceipts,
    private readonly digests: SubjectDigests,
  ) {}

  @Post('request')
  @Describes({
    summary: "Ask for a user's consent",
    description:
      "Records that the user is asked for a version of the bot's terms, or for single categories. " +
      'Nothing may be stored yet: the request is `pending` until it is accepted. With `categories` the ' +
      'answer holds the words to show to the user. A repeat for what was already asked or accepted ' +
      'changes nothing and answers the state that there is.',
    examples: EXAMPLES.request,
  })
  @Responds(201, ConsentRequestedView, ['not_found'])
  async request(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: RequestConsent,
    @Claimed() claim: Claim,
  ): Promise<ConsentRequestedView> {
    return (await this.acts.run(this.requesting, this.requesting.of(bot, body), claim)).view;
  }

  @Post('accept')
  @Describes({
    summary: 'Record that the user has accepted',
    description:
      'Turns the pending request into a consent that submits can rest on (GDPR Art. 7), in place of the one before: what rested ' +
      'on a category that the new one does not grant is erased at `data_erased_at`. The answer ' +
      'holds a signed `receipt` for the user. Name the request by user, guild and version, or by its ' +
      '`consent_id`. After a success there is no pending request: a repeat by its `consent_id` for the same ' +
      'categories (if it names none, those of the consent) is answered with the consent in force and records ' +
      'nothing, any other one with 404 and `details.current_status` `accepted`.',
    examples: EXAMPLES.accept,
  })
  @Responds(200, AcceptedConsentView, ['not_found'])
  accept(
    @CurrentBot() bot: Caller,
    @SubjectBody('consent_id') body: AcceptConsent,
    @Claimed() claim: Claim,
  ): Promise<AcceptedConsentView> {
    return this.receipts.accept(bot, body, claim);
  }

  @Post('decline')
  @Describes({
    summary: 'Record that the user has declined',
    description:
      'Ends the request that waits, named by user and guild, or by its `consent_id`. The answer is the state from before the request, with `declined_at`: a ' +
      'consent to an older version stays in force. The history keeps the refusal; no audit event is written, ' +
      'and asking again is possible at once. Without a waiting request, so also for a repeat, the answer is 404.',
    examples: EXAMPLES.decline,
  })
  @Responds(200, ConsentDeclinedView, ['not_found'])
  decline(
    @CurrentBot() bot: Caller,
    @SubjectBody('consent_id') body: DeclineConsent,
    @Claimed() claim: Claim,
  ): Promise<ConsentDeclinedView> {
    return this.acts.run(this.declining, { botId: bot.botId, input: body }, claim);
  }

  @Post('revoke')
  @EvenWhile('suspended', 'low disk')
  @Describes({
    summary: 'Record that the user has withdrawn the consent',
    description:
      'Withdraws the consent, or only the `categories` that are named (GDPR Art. 7(3)). From this ' +
      'answer on nothing is stored under it; what rested on it is erased at `data_erased_at`, unless ' +
      'the user consents again before. The webhook `consent_revoked` follows once no category ' +
      'is left: a withdrawal of some sends none. A repeat is answered with 404 and `details.current_status` `revoked`.',
    examples: EXAMPLES.revoke,
  })
  @Responds(200, ConsentView, ['not_found'])
  revoke(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: RevokeConsent,
    @Claimed() claim: Claim,
  ): Promise<ConsentView> {
    return this.acts.run(this.revoking, this.revoking.of(bot, body), claim);
  }

  @Get('status')
  @Describes({
    summary: "Read a user's consent",
    description:
      'Answers the state of the consent: `none`, `pending`, `accepted` or `revoked`. A user who was ' +
      'never asked is answered with 200 and `none`, and one who has declined with `declined_at`, until ' +
      'the next request or acceptance. `pending_version` names a newer version that waits ' +
      'for an answer while the older one is still in force.',
    parameters: EXAMPLE_SUBJECT,
  })
  @Responds(200, ConsentStatusView, ['not_found'])
  status(@CurrentBot() bot: Caller, @SubjectQuery() query: ConsentQuery): Promise<ConsentStatusView> {
    return this.consents.status(this.digests.named(bot.botId, query));
  }

  @Post('status/batch')
  @RequiresScope('read')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Read the consents of many users',
    description:
      'Answers for each of 1 to 100 `items`, at its place, what `GET /consents/status` answers, all at one time. ' +
      'A malformed item is 400 for the whole. It changes nothing, so it needs the scope `read` ' +
      'and no `Idempotency-Key`. Ten items count as one request.',
    examples: EXAMPLES.statusBatch,
  })
  @Responds(200, StatusBatchView)
  async statuses(
    @CurrentBot() bot: Caller,
    @Body() body: StatusBatch,
    @Counted() quota: Quota,
  ): Promise<StatusBatchView> {
    await quota.take('items', body.items.length, USERS_PER_REQUEST);
    return { results: await this.consents.statuses(bot.botId, body.items) };
  }

  @Get('history')
  @Describes({
    summary: 'List what a user was shown and has decided, newest first',
    description:
      'Answers one entry for each act: asked, shown again, accepted, withdrawn. An entry names the ' +
      'version and the digests of the texts that were shown, so that the consent can be demonstrated ' +
      '(GDPR Art. 7(1)). An erasure removes the history with everything else.',
    parameters: EXAMPLE_SUBJECT,
  })
  @Responds(200, ConsentHistoryView, ['not_found'])
  history(@CurrentBot() bot: Caller, @SubjectQuery() query: ConsentHistoryQuery): Promise<ListPage> {
    return this.receipts.history(this.digests.named(bot.botId, query), query);
  }

  @Get('receipt')
  @Describes({
    summary: 'Issue a signed receipt of the consent in force',
    description:
      'Answers a signed statement of what the user has consented to, with the fields of ISO/IEC TS ' +
      '27560. The signature is verified with the public keys of `/.well-known/lethe-keys.json`. While ' +
      'the consent is unchanged a repeat answers the same statement. Without a consent in force the ' +
      'answer is 404.',
    parameters: EXAMPLE_SUBJECT,
  })
  @Responds(200, ConsentReceiptView, ['not_found'])
  receipt(@CurrentBot() bot: Caller, @SubjectQuery() query: ConsentQuery): Promise<ConsentReceiptView> {
    return this.receipts.receipt(this.digests.named(bot.botId, query));
  }
}
