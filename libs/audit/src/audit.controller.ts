import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Caller, CurrentBot, Describes, EXAMPLE_SUBJECT, type ListPage, Responds, Topic } from '@app/http';
import { Acts, Claim, Claimed } from '@app/acts';
import { AuditEventsView, AuditEventView, AuditQuery, WriteAuditEvent } from './audit.dto';
import { AuditService } from './audit.service';
import { WriteEventAct } from './write-event.act';

const WRITTEN = { ...EXAMPLE_SUBJECT, event_type: 'data_exported', details: { channel: 'support' } };

@Topic(
  'Audit',
  'A log of every act that took effect, sealed so that later changes can be detected (GDPR Art. 5(2)).',
)
@Controller('audit')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly acts: Acts,
    private readonly writing: WriteEventAct,
  ) {}

  @Post('event')
  @Describes({
    summary: 'Write an audit event of the bot',
    description:
      "Appends an event of the bot's own, marked with `source` `client`, beside the events that the " +
      'service writes itself. `details` are encrypted with the key of the user and become unreadable ' +
      'with an erasure. A repeat appends a further event.',
    examples: { body: WRITTEN },
  })
  @Responds(201, AuditEventView)
  async write(
    @CurrentBot() bot: Caller,
    @Body() body: WriteAuditEvent,
    @Claimed() claim: Claim,
  ): Promise<AuditEventView> {
    return this.acts.run(this.writing, this.writing.of(bot.botId, body), claim);
  }

  @Get('events')
  @Describes({
    summary: 'List audit events, newest first',
    description:
      'Answers one page of the log, filtered by user, guild or type if these are given. Every act that ' +
      'took effect has one event; a refused call has none. `details.actor` of an event of the service says ' +
      'who did it: `key:` and the beginning of the API key, `console`, `privacy_page` or `job`. ' +
      'Events of an erased user remain without the ids of the user.',
    parameters: EXAMPLE_SUBJECT,
  })
  @Responds(200, AuditEventsView)
  list(@CurrentBot() bot: Caller, @Query() query: AuditQuery): Promise<ListPage> {
    return this.audit.list(bot.botId, query);
  }
}
