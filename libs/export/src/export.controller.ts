import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, type JsonStream, type JsonText, Responds } from '@app/http';
import { guildOf } from '@app/subjects';
import { ExportAllGuildsView, ExportPath, ExportQuery, ExportView } from './export.dto';
import { ExportService } from './export.service';

@ApiTags('Export and erasure')
@Controller()
export class ExportController {
  constructor(private readonly exports: ExportService) {}

  @Get('data/export/:user_id')
  @Responds(200, [ExportView, ExportAllGuildsView], ['not_found'])
  user(
    @CurrentBot() { botId }: Caller,
    @Param() { user_id: userId }: ExportPath,
    @Query() query: ExportQuery,
  ): Promise<JsonText | JsonStream> {
    const guildId = guildOf(query);
    const full = query.format === 'full';
    if (guildId === undefined) return this.exports.exportAllGuilds(botId, userId, full);
    return this.exports.export({ botId, userId, guildId }, full);
  }
}
