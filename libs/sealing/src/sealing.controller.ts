import {
  type AnswerStream,
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  type Examples,
  PageQuery,
  Responds,
  RespondsLines,
  Topic,
} from '@app/http';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { AuditLogExport } from './audit-log-export';
import { AuditProofs } from './audit-proofs.service';
import { AuditExportQuery, AuditLineView, AuditProofView, CheckpointsView, EventPath } from './sealing.dto';

const EXAMPLES = {
  proof: {
    answer: {
      bot_id: EXAMPLE.bot_id,
      event: {
        seq: 4,
        id: EXAMPLE.event_id,
        event_type: 'data_exported',
        source: 'client',
        created_at: EXAMPLE.time,
        commitment: EXAMPLE.hash,
        erased: false,
        parts: {
          user: { value: EXAMPLE.user_id, salt: 'Tmb4VAGlEoQyTC06G4pfqKkjY7Hc' },
          guild: { value: EXAMPLE.guild_id, salt: 'Tmb4VAGlEoQyTC06G4pfqKkjY7Hc' },
          details: { value: '{"channel":"support"}', salt: 'Tmb4VAGlEoQyTC06G4pfqKkjY7Hc' },
        },
      },
      leaf_index: 3,
      path: [EXAMPLE.hash, EXAMPLE.hash, EXAMPLE.hash],
      checkpoint: EXAMPLE.jws,
    },
  },
  checkpoints: {
    answer: {
      checkpoints: [
        {
          number: 1,
          first_seq: 1,
          last_seq: 5,
          events: 5,
          root: EXAMPLE.hash,
          chain: EXAMPLE.hash,
          sealed_at: EXAMPLE.time,
          checkpoint: EXAMPLE.jws,
        },
      ],
      pruning: null,
      pagination: { page: 1, page_size: 20, total_count: 1, total_pages: 1, next: null },
    },
  },
  export: {
    answer: {
      type: 'log',
      format: 'lethe-audit-log',
      version: 1,
      bot_id: EXAMPLE.bot_id,
      exported_at: EXAMPLE.time,
      after: 0,
      pruning: null,
    },
  },
} satisfies Readonly<Record<string, Examples>>;

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
    examples: EXAMPLES.proof,
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
    examples: EXAMPLES.checkpoints,
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
    examples: EXAMPLES.export,
  })
  @RespondsLines(AuditLineView)
  export(@CurrentBot() bot: Caller, @Query() { after = '0' }: AuditExportQuery): AnswerStream {
    return this.exports.export(bot.botId, Number(after));
  }
}
