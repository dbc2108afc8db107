import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, type LineStream, PageQuery, Responds, RespondsLines } from '@app/http';
import { AuditLogExport } from './audit-log-export';
import { AuditProofs } from './audit-proofs.service';
import { AuditExportQuery, AuditLineView, AuditProofView, CheckpointsView, EventPath } from './sealing.dto';

/** What proves to a bot, and to whoever it asks, that its log was not changed. */
@ApiTags('Audit')
@Controller('audit')
export class SealingController {
  constructor(
    private readonly proofs: AuditProofs,
    private readonly exports: AuditLogExport,
  ) {}

  @Get('proof/:event_id')
  @Responds(200, AuditProofView, ['not_found'])
  proof(@CurrentBot() bot: Caller, @Param() { event_id: eventId }: EventPath): Promise<AuditProofView> {
    return this.proofs.proof(bot.botId, eventId);
  }

  @Get('checkpoints')
  @Responds(200, CheckpointsView)
  checkpoints(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<CheckpointsView> {
    return this.proofs.checkpoints(bot.botId, query);
  }

  @Get('export')
  @RespondsLines(AuditLineView)
  export(@CurrentBot() bot: Caller, @Query() { after = '0' }: AuditExportQuery): LineStream {
    return this.exports.export(bot.botId, Number(after));
  }
}
