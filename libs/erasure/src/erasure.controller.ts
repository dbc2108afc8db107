import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds } from '@app/http';
import { guildOf } from '@app/subjects';
import { ErasureEverywhere } from './erasure-everywhere.service';
import { ErasureRequests } from './erasure-requests.service';
import {
  DeletionPath,
  DeletionRequestView,
  ForgetUser,
  ForgottenEverywhereView,
  ForgottenView,
  GuildDeletionQuery,
  GuildErasedView,
  GuildPath,
} from './erasure.dto';

@ApiTags('Export and erasure')
@Controller()
export class ErasureController {
  constructor(
    private readonly requests: ErasureRequests,
    private readonly everywhere: ErasureEverywhere,
  ) {}

  @Post('gdpr/forget-user')
  @Responds(
    200,
    [ForgottenView, ForgottenEverywhereView],
    ['conflict', 'payload_too_large', 'unsupported_media_type'],
  )
  forget(
    @CurrentBot() { botId }: Caller,
    @Body() body: ForgetUser,
  ): Promise<ForgottenView | ForgottenEverywhereView> {
    const { user_id: userId } = body;
    const guildId = guildOf(body);
    if (guildId === undefined) return this.everywhere.forget(botId, userId);
    return this.requests.forget({ botId, userId, guildId });
  }

  @Get('gdpr/forget-status/:id')
  @Responds(200, DeletionRequestView, ['not_found'])
  status(@CurrentBot() bot: Caller, @Param() { id }: DeletionPath): Promise<DeletionRequestView> {
    return this.requests.deletion(bot.botId, id);
  }

  @Delete('servers/:guild_id')
  @Responds(200, GuildErasedView, ['not_found', 'conflict'])
  deleteGuild(
    @CurrentBot() bot: Caller,
    @Param() { guild_id: guildId }: GuildPath,
    @Query() { grace_days: graceDays }: GuildDeletionQuery,
  ): Promise<GuildErasedView> {
    return this.requests.deleteGuild(bot.botId, guildId, Number(graceDays ?? 0));
  }
}
