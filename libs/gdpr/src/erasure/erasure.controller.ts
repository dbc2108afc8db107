import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { guildOf, SubjectDigests } from '@app/crypto';
import {
  Caller,
  CurrentBot,
  Describes,
  EvenWhile,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  type Examples,
  GuildPath,
  IdPath,
  RequiresScope,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { ErasureEverywhere } from './erasure-everywhere.service';
import { ErasureRequests } from './erasure-requests.service';
import {
  CertificateView,
  DeletionRequestView,
  ForgetUser,
  ForgottenEverywhereView,
  ForgottenView,
  GuildDeletionQuery,
  GuildErasedView,
} from './erasure.dto';
import { ErasureService } from './erasure.service';
import { GuildErasure } from './guild-erasure.service';

const FORGET: Examples = {
  canonical: { summary: 'One user in one guild', body: EXAMPLE_SUBJECT },
  all_guilds: {
    summary: 'One user in every guild of the bot',
    body: { user_id: EXAMPLE.user_id, scope: 'all_guilds' },
  },
};

@Topic(
  'Export and erasure',
  'The rights of a user: access and portability (GDPR Art. 15 and 20) and erasure (GDPR Art. 17), with signed certificates.',
)
@Controller()
export class ErasureController {
  constructor(
    private readonly erasures: ErasureService,
    private readonly requests: ErasureRequests,
    private readonly everywhere: ErasureEverywhere,
    private readonly guilds: GuildErasure,
    private readonly digests: SubjectDigests,
  ) {}

  @Post('gdpr/forget-user')
  @RequiresScope('erase')
  @EvenWhile('low disk')
  @Describes({
    summary: 'Erase everything stored about a user (GDPR Art. 17)',
    description:
      'Erases all values, the consent and its history, and destroys the key that encrypted them. ' +
      '`completed` means that they are erased; the audit log keeps that an erasure took place, without ' +
      'the ids of the user. The webhook `user_forgotten` asks the bot to delete its own copies. A repeat ' +
      'erases what was stored since, under a new `request_id`; `scope` `all_guilds` in place of ' +
      '`guild_id` erases the user in every guild.',
    examples: FORGET,
  })
  @Responds(200, [ForgottenView, ForgottenEverywhereView], ['deletion_in_progress'])
  forget(
    @CurrentBot() bot: Caller,
    @Body() body: ForgetUser,
    @Claimed() claim: Claim,
  ): Promise<ForgottenView | ForgottenEverywhereView> {
    const { user_id } = body;
    const guild_id = guildOf(body);
    if (guild_id === undefined) return this.everywhere.forget(bot, user_id, claim);
    return this.erasures.erase(this.digests.named(bot.botId, { guild_id, user_id }), claim, bot.actor);
  }

  @Get('gdpr/forget-status/:id')
  @Describes({
    summary: 'Read an erasure request',
    description:
      'Answers the state of an erasure: `processing`, `completed` or `failed`. An erasure that was ' +
      'interrupted is finished by the service without a further request. `webhook_sent` turns true ' +
      'once the receiver of the bot has confirmed `user_forgotten`. `coverage` has the answers of the ' +
      'holders of the bot, where it has any.',
    parameters: { id: EXAMPLE.request_id },
  })
  @Responds(200, DeletionRequestView, ['not_found'])
  status(@CurrentBot() bot: Caller, @Param() { id }: IdPath): Promise<DeletionRequestView> {
    return this.requests.status(bot.botId, id);
  }

  @Delete('servers/:guild_id')
  @RequiresScope('erase')
  @Describes({
    summary: 'Remove a server and erase every user of it, at once or later',
    description:
      'Erases every user of the guild, each as an erasure of its own with its webhook, then removes ' +
      'the registration of the guild. With `grace_days` nothing is erased before `scheduled_for`, and ' +
      'the deletion can be cancelled until then. If the call is interrupted, repeat it: it continues ' +
      'with the users that are left. A guild that is neither registered nor has users is answered with 404.',
  })
  @Responds(200, GuildErasedView, ['not_found', 'deletion_in_progress'])
  deleteGuild(
    @CurrentBot() bot: Caller,
    @Param() { guild_id: guildId }: GuildPath,
    @Query() { grace_days: graceDays }: GuildDeletionQuery,
  ): Promise<GuildErasedView> {
    return this.guilds.deleteGuild(bot, guildId, Number(graceDays ?? 0));
  }
}

@Topic('Export and erasure')
@Controller('gdpr')
export class CertificateController {
  constructor(private readonly requests: ErasureRequests) {}

  @Get('forget-status/:id/certificate')
  @Describes({
    summary: 'Read the signed certificate of an erasure',
    description:
      'Answers a signed statement that the erasure took place, which can be verified without the ' +
      'service (GDPR Art. 5(2)). It names the user only to those who know the ids and the ' +
      '`certificate_salt` of the answer to `forget-user`. A repeat answers the same text. Before the ' +
      'erasure is completed the answer is 409 `deletion_not_completed`.',
    parameters: { id: EXAMPLE.request_id },
  })
  @Responds(200, CertificateView, ['not_found', 'deletion_not_completed', 'no_certificate'])
  certificate(@CurrentBot() bot: Caller, @Param() { id }: IdPath): Promise<CertificateView> {
    return this.requests.certificate(bot.botId, id);
  }
}
