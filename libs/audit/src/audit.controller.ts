import { Body, Controller, Get, Inject, Post, Query } from '@nestjs/common';
import { SubjectDigests } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import {
  addNumberFaults,
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE_SUBJECT,
  type ListPage,
  Responds,
  Topic,
} from '@app/http';
import { type Config, CONFIG, type FieldFault, invalidRequest, requireBytes } from '@app/kernel';
import { Claim, Claimed, EncryptedForms, type Form } from '@app/idempotency';
import { lockSubject } from '@app/subjects';
import { AuditEventsView, AuditEventView, AuditQuery, WriteAuditEvent } from './audit.dto';
import { EXAMPLES } from './audit.examples';
import { AuditService } from './audit.service';

@Topic(
  'Audit',
  'A log of every act that took effect, sealed so that later changes can be detected (GDPR Art. 5(2)).',
)
@Controller('audit')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly unitOfWork: UnitOfWork,
    private readonly digests: SubjectDigests,
    private readonly forms: EncryptedForms,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Post('event')
  @Describes({
    summary: 'Write an audit event of the bot',
    description:
      "Appends an event of the bot's own, marked with `source` `client`, beside the events that the " +
      'service writes itself. `details` are encrypted with the key of the user and become unreadable ' +
      'with an erasure. A repeat appends a further event.',
    examples: EXAMPLES.write,
  })
  @Responds(201, AuditEventView)
  write(
    @CurrentBot() bot: Caller,
    @Body() body: WriteAuditEvent,
    @Claimed() claim: Claim,
  ): Promise<AuditEventView> {
    const { event_type: type, details } = body;
    if (details != null) this.requireStorable(details);
    const subject = this.digests.named(bot.botId, body);
    const stored = this.forms.ofSubject<AuditEventView>(subject);
    // The repeated request has the details, which can be long.
    const form: Form<AuditEventView> = {
      write: (view, ...rest) => stored.write({ ...view, details: null }, ...rest),
      read: async (found) => {
        const view = await stored.read(found);
        return view && { ...view, details: details ?? null };
      },
    };
    const record = async (tx: Tx): Promise<AuditEventView> => {
      await lockSubject(tx, subject, 'together');
      return this.audit.record(tx, subject, type, details, 'client');
    };
    return this.unitOfWork.write(claim.once(form, record));
  }

  @Get('events')
  @Describes({
    summary: 'List audit events, newest first',
    description:
      'Answers one page of the log, filtered by user, guild or type if these are given. Every act that ' +
      'took effect has one event; a refused call has none. Events of an erased user remain without the ' +
      'ids of the user.',
    parameters: EXAMPLE_SUBJECT,
    examples: EXAMPLES.list,
  })
  @Responds(200, AuditEventsView)
  list(@CurrentBot() bot: Caller, @Query() query: AuditQuery): Promise<ListPage> {
    return this.audit.list(bot.botId, query);
  }

  private requireStorable(details: Record<string, unknown>): void {
    requireBytes('details', JSON.stringify(details), this.config.detailsLimitBytes);
    const faults: FieldFault[] = [];
    addNumberFaults(details, 'details', faults);
    if (faults.length > 0) throw invalidRequest(faults);
  }
}
