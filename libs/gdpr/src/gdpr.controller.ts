import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, type JsonStream, type JsonText, Responds } from '@app/common';
import { ExportService } from './export.service';
import {
  DeletionPath,
  DeletionRequestView,
  ExportPath,
  ExportQuery,
  ExportView,
  ForgetUser,
  ForgottenView,
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
  ) {}

  @Get('data/export/:user_id')
  @Responds(200, ExportView, ['not_found'])
  export(
    @CurrentBot() bot: Caller,
    @Param() path: ExportPath,
    @Query() query: ExportQuery,
  ): Promise<JsonText | JsonStream> {
    const subject = { botId: bot.botId, userId: path.user_id, guildId: query.guild_id };
    return this.exports.export(subject, query.format === 'full');
  }

  @Post('gdpr/forget-user')
  @Responds(200, ForgottenView, ['conflict', 'payload_too_large', 'unsupported_media_type'])
  forget(@CurrentBot() bot: Caller, @Body() body: ForgetUser): Promise<ForgottenView> {
    return this.gdpr.forget({ botId: bot.botId, userId: body.user_id, guildId: body.guild_id });
  }

  @Get('gdpr/forget-status/:id')
  @Responds(200, DeletionRequestView, ['not_found'])
  deletion(@CurrentBot() bot: Caller, @Param() { id }: DeletionPath): Promise<DeletionRequestView> {
    return this.gdpr.deletion(bot.botId, id);
  }

  @Delete('servers/:guild_id')
  @Responds(200, GuildErasedView, ['not_found'])
  eraseGuild(@CurrentBot() bot: Caller, @Param() { guild_id: guildId }: GuildPath): Promise<GuildErasedView> {
    return this.gdpr.eraseGuild(bot.botId, guildId);
  }
}
