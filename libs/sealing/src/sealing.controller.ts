import {
  type AnswerStream,
  Caller,
  CurrentBot,
  Describes,
  PageQuery,
  Responds,
  RespondsLines,
  Topic,
} from '@app/http';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { AuditLogExport } from './audit-log-export';
import { AuditProofs } from './audit-proofs.service';
import { AuditExportQuery, AuditLineView, AuditProofView, CheckpointsView, EventPath } from './sealing.dto';

/** Proofs for a bot, and for parties it shows them to, that its log was not changed. */
@Topic('Audit')
@Controller('audit')
export class SealingController {
  constructor(
    private readonly proofs: AuditProofs,
    private readonly exports: AuditLogExport,
  ) {}

  @Get('proof/:event_id')
  @Describes({
    summary: 'Prove that an event is part of the sealed log',
    description:
      'Answers the path from one event to a signed checkpoint (RFC 9162), which can be verified ' +
      'without the service. An event that is not sealed yet is sealed by this call. An answer of 503 ' +
      'says that older acts are still under way: ask again.',
  })
  @Responds(200, AuditProofView, ['not_found'])
  proof(@CurrentBot() bot: Caller, @Param() { event_id: eventId }: EventPath): Promise<AuditProofView> {
    return this.proofs.proof(bot.botId, eventId);
  }

  @Get('checkpoints')
  @Describes({
    summary: 'List the signed checkpoints of the log, newest first',
    description:
      'Answers one page of the checkpoints. A party that keeps a checkpoint can show later that the ' +
      'log was changed before it. `pruning` is a signed statement of what was removed after its ' +
      'retention, if anything was.',
  })
  @Responds(200, CheckpointsView)
  checkpoints(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<CheckpointsView> {
    return this.proofs.checkpoints(bot.botId, query);
  }

  @Get('export')
  @Describes({
    summary: 'Export the sealed log with all that verifies it, one JSON value a line',
    description:
      'Seals what is not sealed yet and answers the whole log as lines of JSON: a head, the events and ' +
      'checkpoints, and a signed end that shows whether the file was cut. An answer of 503 says that older acts are ' +
      'still under way: ask again. `after` continues an earlier export behind its last batch. `npx --package @lethe/sdk lethe-verify` checks the file without the service.',
  })
  @RespondsLines(AuditLineView)
  export(@CurrentBot() bot: Caller, @Query() { after = '0' }: AuditExportQuery): AnswerStream {
    return this.exports.export(bot.botId, Number(after));
  }
}
