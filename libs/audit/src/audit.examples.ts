import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';

export const EXAMPLES = {
  write: {
    canonical: {
      body: { ...EXAMPLE_SUBJECT, event_type: 'data_exported', details: { channel: 'support' } },
      answer: {
        id: EXAMPLE.event_id,
        guild_id: EXAMPLE.guild_id,
        user_id: EXAMPLE.user_id,
        event_type: 'data_exported',
        source: 'client',
        details: { channel: 'support' },
        created_at: EXAMPLE.time,
      },
    },
  },
  list: {
    canonical: {
      answer: {
        events: [
          {
            id: '0198c0de-0000-7000-8000-000000000010',
            guild_id: EXAMPLE.guild_id,
            user_id: EXAMPLE.user_id,
            event_type: 'data_exported',
            source: 'service',
            details: { format: 'record' },
            created_at: EXAMPLE.time,
          },
          {
            id: EXAMPLE.event_id,
            guild_id: EXAMPLE.guild_id,
            user_id: EXAMPLE.user_id,
            event_type: 'data_exported',
            source: 'client',
            details: { channel: 'support' },
            created_at: EXAMPLE.time,
          },
          {
            id: '0198c0de-0000-7000-8000-000000000011',
            guild_id: EXAMPLE.guild_id,
            user_id: EXAMPLE.user_id,
            event_type: 'data_submitted',
            source: 'service',
            details: { category: EXAMPLE.category },
            created_at: EXAMPLE.time,
          },
          {
            id: '0198c0de-0000-7000-8000-000000000012',
            guild_id: EXAMPLE.guild_id,
            user_id: EXAMPLE.user_id,
            event_type: 'consent_accepted',
            source: 'service',
            details: { version: EXAMPLE.consent_version },
            created_at: EXAMPLE.time,
          },
          {
            id: '0198c0de-0000-7000-8000-000000000013',
            guild_id: EXAMPLE.guild_id,
            user_id: EXAMPLE.user_id,
            event_type: 'consent_requested',
            source: 'service',
            details: { version: EXAMPLE.consent_version },
            created_at: EXAMPLE.time,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 5, total_pages: 1, next: null },
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
