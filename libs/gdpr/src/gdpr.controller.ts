import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, type JsonStream, type JsonText, Responds } from '@app/http';
import { invalidRequest } from '@app/kernel';
import { ErasureEverywhere } from './erasure-everywhere.service';
import { ExportService } from './export.service';
import {
  DeletionPath,
  DeletionRequestView,
  ExportAllGuildsView,
  ExportPath,
  ExportQuery,
  ExportView,
  ForgetUser,
  ForgottenEverywhereView,
  ForgottenView,
  GuildDeletionQuery,
  GuildErasedView,
  GuildPath,
} from './gdpr.dto';
import { GdprService } from './gdpr.service';

@ApiTags('Export and erasure')
@Controller()
export class GdprController {
  constructor(
    private readonly gdpr: GdprService,
    private readonly exports: ExportService,
    private readonly everywhere: ErasureEverywhere,
  ) {}

  @Get('data/export/:user_id')
  @Responds(200, [ExportView, ExportAllGuildsView], ['not_found'])
  export(
    @CurrentBot() { botId }: Caller,
    @Param() { user_id: userId }: ExportPath,
    @Query() query: ExportQuery,
  ): Promise<JsonText | JsonStream> {
    const guildId = guildOf(query);
    const full = query.format === 'full';
    if (guildId === undefined) return this.exports.exportAllGuilds(botId, userId, full);
    return this.exports.export({ botId, userId, guildId }, full);
  }

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
    return this.gdpr.forget({ botId, userId, guildId });
  }

  @Get('gdpr/forget-status/:id')
  @Responds(200, DeletionRequestView, ['not_found'])
  deletion(@CurrentBot() bot: Caller, @Param() { id }: DeletionPath): Promise<DeletionRequestView> {
    return this.gdpr.deletion(bot.botId, id);
  }

  @Delete('servers/:guild_id')
  @Responds(200, GuildErasedView, ['not_found', 'conflict'])
  deleteGuild(
    @CurrentBot() bot: Caller,
    @Param() { guild_id: guildId }: GuildPath,
    @Query() { grace_days: graceDays }: GuildDeletionQuery,
  ): Promise<GuildErasedView> {
    return this.gdpr.deleteGuild(bot.botId, guildId, Number(graceDays ?? 0));
  }
}

/** The guild that a call is about; undefined for all of them. @throws ApiError 400 when both are named. */
function guildOf({
  guild_id: guildId,
  scope,
}: {
  guild_id?: string;
  scope?: string | null;
}): string | undefined {
  if (scope == null) return guildId;
  if (guildId != null)
    throw invalidRequest([
      { field: 'guild_id', message: 'must be left out with scope: all guilds are meant' },
    ]);
  return undefined;
}
