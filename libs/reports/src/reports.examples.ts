import { EXAMPLE, type Examples } from '@app/http';
import { EN } from './documents.texts.en';
import { recipientsOf } from './processing-record.service';

const PROFILE = { category: EXAMPLE.category, label_de: 'Profil', label_en: 'Profile' };
const FIELD = {
  key: 'nickname',
  type: 'string',
  label_de: 'Spitzname',
  label_en: 'Nickname',
  description: null,
};

const ACTIVITIES = [
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
];
const LIMITS = [{ applies_to: 'Data that rested on a consent, after its withdrawal', days: 30 }];
const { subjects, transfersUnknown, measures, receives } = EN.record;
const BOT = {
  bot_id: EXAMPLE.bot_id,
  platform_bot_id: EXAMPLE.platform_bot_id,
  name: 'Greeter',
  privacy_contact: 'privacy@example.org',
};
const RECIPIENTS = recipientsOf('https://bot.example.org', receives);
const LAST_DAYS = { from: '2026-08-29', to: '2026-11-26' };

export const EXAMPLES = {
  breachScope: {
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
  record: {
    answer: {
      generated_at: EXAMPLE.time,
      controller: BOT,
      data_subjects: subjects,
      recipients: RECIPIENTS,
      transfers: transfersUnknown,
      time_limits: LIMITS,
      security_measures: [measures.values],
      activities: ACTIVITIES,
    },
  },
  dossier: {
    answer: {
      generated_at: EXAMPLE.time,
      language: 'en',
      bot: { ...BOT, registered_at: EXAMPLE.time },
      privacy_policy: null,
      notice_settings: {},
      data_subjects: subjects,
      time_limits: LIMITS,
      encryption: {
        algorithm: 'ChaCha20-Poly1305 (RFC 8439)',
        master_key: 'file',
        statements: EN.dossier.encryptionFacts,
      },
      access: RECIPIENTS,
      deletion: {
        ...LAST_DAYS,
        ...{ requested: 0, completed: 0, failed: 0, median_ms: null, longest_ms: null },
        statements: EN.dossier.deletionFacts,
      },
      consent: {
        ...LAST_DAYS,
        ...{ requested: 4, accepted: 3, revoked: 1, statements: EN.dossier.consentFacts },
      },
      security_measures: [measures.values],
      backups: { retention_days: 35, statements: EN.dossier.backupFacts },
      transfers: transfersUnknown,
      to_add: EN.dossier.additions,
      activities: ACTIVITIES,
      gaps: [{ task: EN.gaps.controller, field: 'controller_name' }],
    },
  },
  stats: {
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
} satisfies Readonly<Record<string, Examples>>;
