import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { guildOf, SCOPES, SubjectDigests } from '@app/crypto';
import {
  type AnswerStream,
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  type JsonText,
  type LetheRequest,
  Of,
  OneOf,
  Responds,
  Snowflake,
  Text,
  Timestamp,
  Topic,
  UserPath,
  Uuid,
} from '@app/http';
import { ExportService } from './export.service';

class ExportQuery {
  @Snowflake({ unless: 'scope', description: 'Required without scope, to be left out with it' })
  guild_id?: string;
  @OneOf(SCOPES, { optional: true, description: 'all_guilds: one user in every guild of the bot' })
  scope?: 'all_guilds';
  @OneOf(['full'], { optional: true, description: 'full: history, audit events and purposes too' })
  format?: 'full';
}

class ExportedBot {
  @Uuid() id: string;
  @Text(100) name: string;
}

class ExportedConsent {
  @Of(String) status: string;
  @Of(String) version: string;
  @Timestamp({ nullable: true }) acceptedAt: string | null;
}

class ExportedGuild {
  @Snowflake() guildId: string;
  @Of(ExportedConsent, { nullable: true }) consent: ExportedConsent | null;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'object', additionalProperties: true } })
  data: object;
}

/** Documentation of an export of all guilds, streamed guild by guild. */
class ExportAllGuildsView {
  @Snowflake() userId: string;
  @Timestamp() exportedAt: string;
  @Of(ExportedBot) bot: ExportedBot;
  @Of([ExportedGuild]) guilds: ExportedGuild[];
}

/** Documentation of the export; the answer is assembled from stored JSON texts. */
class ExportView {
  @Snowflake() userId: string;
  @Snowflake() guildId: string;
  @Timestamp() exportedAt: string;
  @Of(ExportedBot) bot: ExportedBot;
  @Of(ExportedConsent, { nullable: true }) consent: ExportedConsent | null;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'object', additionalProperties: true } })
  data: object;
}

@Topic('Export and erasure')
@Controller()
export class ExportController {
  constructor(
    private readonly exports: ExportService,
    private readonly digests: SubjectDigests,
  ) {}

  @Get('data/export/:user_id')
  @Describes({
    summary: 'Export everything stored about a user (GDPR Art. 15)',
    description:
      'Answers everything that is stored about the user in one guild: consent and all values by ' +
      'category. `format=full` adds the history of the consent, the audit events, the purposes and the ' +
      'erasure requests, and asks the holders of the bot for the section `holders`; `scope=all_guilds` in place of `guild_id` answers all guilds in one document. ' +
      'Each export is recorded as an audit event. If nothing is stored, the answer is 404; so it is without `format=full` if nothing but an objection or a restriction is.',
    parameters: { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id },
  })
  @Responds(200, [ExportView, ExportAllGuildsView], ['not_found'])
  user(
    @CurrentBot() bot: Caller,
    @Param() { user_id }: UserPath,
    @Query() query: ExportQuery,
    @Req() { method }: LetheRequest,
  ): Promise<JsonText | AnswerStream> {
    const { botId, actor } = bot;
    const guild_id = guildOf(query);
    const full = query.format === 'full';
    const subject = guild_id === undefined ? undefined : this.digests.named(botId, { guild_id, user_id });
    if (method === 'HEAD') return this.exports.headers({ botId, userId: user_id, subject }, full, actor);
    if (subject === undefined) return this.exports.exportAllGuilds(bot, user_id, full);
    return this.exports.export(subject, full, actor);
  }
}
