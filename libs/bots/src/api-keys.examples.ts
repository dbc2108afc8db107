import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  list: {
    canonical: {
      answer: {
        keys: [
          {
            id: EXAMPLE.key_id,
            api_key_prefix: 'sk_live_shown-on',
            scopes: ['read', 'write'],
            expires_at: null,
            last_used_at: null,
            created_at: EXAMPLE.time,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 2, total_pages: 1, next: null },
      },
    },
  },
  create: {
    canonical: {
      body: { scopes: ['read', 'write'] },
      answer: {
        id: EXAMPLE.key_id,
        api_key: 'sk_live_shown-only-here-keep-it-secret',
        api_key_prefix: 'sk_live_shown-on',
        scopes: ['read', 'write'],
        expires_at: null,
        created_at: EXAMPLE.time,
      },
    },
  },
  rotate: {
    canonical: {
      body: { overlap_seconds: 86400 },
      answer: {
        id: EXAMPLE.rotated_key_id,
        api_key: 'sk_live_shown-only-here-keep-it-secret',
        api_key_prefix: 'sk_live_shown-on',
        scopes: ['read', 'write', 'erase', 'admin'],
        expires_at: null,
        created_at: EXAMPLE.time,
        overlap_until: '2026-11-21T12:00:00.000Z',
      },
    },
  },
  delete: {
    canonical: { answer: { id: EXAMPLE.key_id, deleted: true, deleted_at: EXAMPLE.time } },
  },
} satisfies Readonly<Record<string, Examples>>;
