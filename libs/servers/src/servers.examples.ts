import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  register: {
    canonical: {
      body: { guild_id: EXAMPLE.guild_id, name: 'Garden' },
      answer: {
        id: '0198c0de-0000-7000-8000-000000000018',
        guild_id: EXAMPLE.guild_id,
        name: 'Garden',
        created_at: EXAMPLE.time,
        deletion_scheduled_for: null,
      },
    },
  },
  list: {
    canonical: {
      answer: {
        servers: [
          {
            id: '0198c0de-0000-7000-8000-000000000018',
            guild_id: EXAMPLE.guild_id,
            name: 'Garden',
            created_at: EXAMPLE.time,
            deletion_scheduled_for: null,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 1, total_pages: 1, next: null },
      },
    },
  },
  cancelDeletion: {
    canonical: {
      answer: {
        id: '0198c0de-0000-7000-8000-000000000018',
        guild_id: EXAMPLE.guild_id,
        name: 'Garden',
        created_at: EXAMPLE.time,
        deletion_scheduled_for: null,
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
