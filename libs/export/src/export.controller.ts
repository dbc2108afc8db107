import { Controller, Get, Param, Query } from '@nestjs/common';
import { SubjectDigests } from '@app/crypto';
import {
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  type JsonStream,
  type JsonText,
  Responds,
  Topic,
} from '@app/http';
import { guildOf } from '@app/subjects';
import { ExportAllGuildsView, ExportPath, ExportQuery, ExportView } from './export.dto';
import { EXAMPLES } from './export.examples';
import { ExportService } from './export.service';

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
      'erasure requests; `scope=all_guilds` in place of `guild_id` answers all guilds in one document. ' +
      'Each export is recorded as an audit event. If nothing is stored, the answer is 404.',
    parameters: { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id },
    examples: EXAMPLES.user,
  })
  @Responds(200, [ExportView, ExportAllGuildsView], ['not_found'])
  user(
    @CurrentBot() { botId }: Caller,
    @Param() { user_id }: ExportPath,
    @Query() query: ExportQuery,
  ): Promise<JsonText | JsonStream> {
    const guild_id = guildOf(query);
    const full = query.format === 'full';
    if (guild_id === undefined) return this.exports.exportAllGuilds(botId, user_id, full);
    return this.exports.export(this.digests.named(botId, { guild_id, user_id }), full);
  }
}
