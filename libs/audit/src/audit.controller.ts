import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import {
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  examplePage,
  type Examples,
  type ListPage,
  Responds,
  Topic,
} from '@app/http';
import { Acts, Claim, Claimed } from '@app/acts';
import { AuditEventsView, AuditEventView, AuditQuery, WriteAuditEvent } from './audit.dto';
import { AuditService } from './audit.service';
import { WriteEventAct } from './write-event.act';

const ID = '0198c0de-0000-7000-8000-0000000000';
const VERSION = { version: EXAMPLE.consent_version };
const WRITTEN = exampleEvent(EXAMPLE.event_id, 'data_exported', { channel: 'support' }, 'client');

const EXAMPLES = {
  write: {
    body: { ...EXAMPLE_SUBJECT, event_type: 'data_exported', details: { channel: 'support' } },
    answer: WRITTEN,
  },
  list: {
    answer: {
      events: [
        exampleEvent(`${ID}10`, 'data_exported', { format: 'record' }),
        WRITTEN,
        exampleEvent(`${ID}11`, 'data_submitted', { category: EXAMPLE.category }),
        exampleEvent(`${ID}12`, 'consent_accepted', VERSION),
        exampleEvent(`${ID}13`, 'consent_requested', VERSION),
      ],
      pagination: examplePage(5),
    },
  },
} satisfies Readonly<Record<string, Examples>>;

function exampleEvent(id: string, event_type: string, details: object, source = 'service'): object {
  const { guild_id, user_id, time: created_at } = EXAMPLE;
  const by = source === 'service' && { actor: 'key:sk_live_shown-on' };
  return { id, guild_id, user_id, event_type, source, details: { ...details, ...by }, created_at };
}

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
    examples: EXAMPLES.write,
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
    examples: EXAMPLES.list,
  })
  @Responds(200, AuditEventsView)
  list(@CurrentBot() bot: Caller, @Query() query: AuditQuery): Promise<ListPage> {
    return this.audit.list(bot.botId, query);
  }
}
