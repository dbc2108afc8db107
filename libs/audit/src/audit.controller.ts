import { Body, Controller, Get, Inject, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { UnitOfWork } from '@app/database';
import { Caller, CurrentBot, addNumberFaults, Responds } from '@app/http';
import { ApiError, CONFIG, type Config, type FieldFault, invalidRequest } from '@app/kernel';
import { lockSubject } from '@app/subjects';
import { AuditEventsView, AuditEventView, AuditQuery, WriteAuditEvent } from './audit.dto';
import { AuditService } from './audit.service';

@ApiTags('Audit')
@Controller('audit')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly unitOfWork: UnitOfWork,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Post('event')
  @Responds(201, AuditEventView, ['payload_too_large', 'unsupported_media_type'])
  write(@CurrentBot() bot: Caller, @Body() body: WriteAuditEvent): Promise<AuditEventView> {
    const { user_id: userId, guild_id: guildId, event_type: type, details } = body;
    if (details != null) this.requireStorable(details);
    const subject = { botId: bot.botId, userId, guildId };
    return this.unitOfWork.write(async (tx) => {
      await lockSubject(tx, subject, 'together');
      return this.audit.record(tx, subject, type, details, 'client');
    });
  }

  @Get('events')
  @Responds(200, AuditEventsView)
  list(@CurrentBot() bot: Caller, @Query() query: AuditQuery): Promise<AuditEventsView> {
    return this.audit.list(bot.botId, query);
  }

  private requireStorable(details: Record<string, unknown>): void {
    const limit = this.config.detailsLimitBytes;
    if (Buffer.byteLength(JSON.stringify(details)) > limit) {
      throw new ApiError('payload_too_large', `details may be at most ${limit} bytes long as JSON`, {
        limit_bytes: limit,
      });
    }
    const faults: FieldFault[] = [];
    addNumberFaults(details, 'details', faults);
    if (faults.length > 0) throw invalidRequest(faults);
  }
}
