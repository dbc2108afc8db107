import {
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  type Examples,
  type JsonStream,
  type LetheRequest,
  requireOwnBot,
  RequiresScope,
  Responds,
  type TextStream,
  Topic,
} from '@app/http';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { BreachScopes } from './breach-scope.service';
import { EN } from './documents.texts.en';
import { ProcessingRecordPath, ProcessingRecordQuery, ProcessingRecordView } from './processing-record.dto';
import { ProcessingRecords, recipientsOf } from './processing-record.service';
import { BreachScopeQuery, BreachScopeView, StatsQuery, StatsView } from './reports.dto';
import { StatsService } from './stats.service';

const MARKDOWN = 'text/markdown';

/** The first one is answered where a caller has no preference (RFC 9110 section 12.5.1). */
const FORMATS: Readonly<Record<string, 'json' | 'markdown' | 'html'>> = {
  'application/json': 'json',
  [MARKDOWN]: 'markdown',
  'text/html': 'html',
};

const PROFILE = { category: EXAMPLE.category, label_de: 'Profil', label_en: 'Profile' };
const FIELD = {
  key: 'nickname',
  type: 'string',
  label_de: 'Spitzname',
  label_en: 'Nickname',
  description: null,
};

const EXAMPLES = {
  breachScope: {
    canonical: {
      answer: {
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        generated_at: EXAMPLE.time,
        log_begins_at: EXAMPLE.time,
        exact: true,
        affected: { subjects: 1, users: 1, guilds: 1 },
        acts: {
          stored: { events: 1, subjects: 1 },
          exported: { events: 1, subjects: 1 },
          deleted: { events: 0, subjects: 0 },
          erased: { events: 0, subjects: 0 },
        },
        records_held: 1,
        records_touched: 1,
        categories: [{ ...PROFILE, records_held: 1, records_touched: 1 }],
      },
    },
  },
  record: {
    canonical: {
      answer: {
        generated_at: EXAMPLE.time,
        controller: {
          bot_id: EXAMPLE.bot_id,
          platform_bot_id: EXAMPLE.platform_bot_id,
          name: 'Greeter',
          privacy_contact: 'privacy@example.org',
        },
        data_subjects: EN.record.subjects,
        recipients: recipientsOf('https://bot.example.org', EN.record.receives),
        transfers: EN.record.transfersUnknown,
        time_limits: [{ applies_to: 'Data that rested on a consent, after its withdrawal', days: 30 }],
        security_measures: [
          'Stored values and the details of audit events are encrypted with ChaCha20-Poly1305, by a key of its own for each user and guild.',
        ],
        activities: [
          {
            ...PROFILE,
            purpose: 'To greet members by name',
            purpose_de: 'Um Mitglieder mit ihrem Namen zu begrüßen',
            purpose_en: 'To greet members by name',
            legal_basis: 'consent',
            retention_days: 365,
            fields: [
              FIELD,
              { ...FIELD, key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday' },
            ],
          },
        ],
      },
    },
  },
  stats: {
    canonical: {
      answer: {
        buckets: [
          {
            at: '2026-11-20T00:00:00.000Z',
            counts: {
              consent_requested: 4,
              consent_accepted: 3,
              consent_revoked: 1,
              data_submitted: 12,
              data_exported: 1,
              data_deleted: 0,
              deletion_requested: 2,
              deletion_completed: 2,
              deletion_failed: 0,
            },
            webhooks: { delivered: 3, failed: 1, exhausted: 0 },
            erasure_ms: { p50: 9, p95: 14, max: 14 },
          },
        ],
        under_consent: [
          { at: '2026-11-20T00:00:00.000Z', subjects: 812, counted_at: '2026-11-21T00:00:00.000Z' },
        ],
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;

@Topic('Accountability', 'Reports that a controller owes: to itself, to an authority, to the public.')
@Controller()
export class ReportsController {
  constructor(
    private readonly records: ProcessingRecords,
    private readonly scopes: BreachScopes,
  ) {}

  @Get('audit/breach-scope')
  @Describes({
    summary: 'Count the users that a breach concerns (GDPR Art. 33)',
    description:
      'Counts the users, guilds and records that were acted on in a period, in total and by category, ' +
      'for the notification of a breach (GDPR Art. 33(3)(a)). The answer holds numbers only and names ' +
      'no user. `exact` says whether large numbers are estimates. While a report of the bot is being ' +
      'made a further one is refused with 409 `report_in_progress`.',
    parameters: { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' },
    examples: EXAMPLES.breachScope,
  })
  @Responds(200, BreachScopeView, ['report_in_progress'])
  breachScope(@CurrentBot() { botId }: Caller, @Query() query: BreachScopeQuery): Promise<BreachScopeView> {
    return this.scopes.of(botId, query);
  }

  @Get('bots/:bot_id/processing-record')
  @Describes({
    summary: 'Record of processing activities (GDPR Art. 30), as JSON, Markdown or HTML',
    description:
      'Answers the record that GDPR Art. 30(1) asks for, as far as the service can give it: what the bot ' +
      'has declared, and what this installation does with it. `format=markdown` or `format=html`, or an ' +
      '`Accept` header that prefers one of them, answers a document to keep or to print, which ends with what ' +
      'is still missing. A repeat answers the present state.',
    parameters: { bot_id: EXAMPLE.bot_id },
    examples: EXAMPLES.record,
  })
  @Responds(200, ProcessingRecordView, ['not_found'], [MARKDOWN, 'text/html'])
  record(
    @CurrentBot() bot: Caller,
    @Param() path: ProcessingRecordPath,
    @Query() { format, language }: ProcessingRecordQuery,
    @Req() request: LetheRequest,
  ): JsonStream | TextStream {
    requireOwnBot(path.bot_id, bot);
    const wanted = format ?? FORMATS[String(request.accepts(Object.keys(FORMATS)))] ?? 'json';
    if (wanted === 'json') return this.records.asJson(bot.botId, language);
    return this.records[wanted === 'html' ? 'asHtml' : 'asMarkdown'](bot.botId, language ?? 'en');
  }
}

@Topic('Stats', 'What happened over time, in numbers that name no user.')
@Controller('stats')
export class StatsController {
  constructor(private readonly stats: StatsService) {}

  @Get()
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'Count acts, webhook calls and erasures by hour or day',
    description:
      'Answers for each hour or day (UTC) the number of audit events of the service, the ends of webhook ' +
      'calls and the durations of erasures, up to this moment. Events that the bot has posted are not ' +
      'counted. The numbers are kept for 400 days, also where the events are removed earlier. ' +
      '`under_consent` is the number of users in guilds whose consent was in force at the end of each day.',
    parameters: { bucket: 'day' },
    examples: EXAMPLES.stats,
  })
  @Responds(200, StatsView)
  read(@CurrentBot() { botId }: Caller, @Query() query: StatsQuery): Promise<StatsView> {
    return this.stats.of(botId, query);
  }
}
