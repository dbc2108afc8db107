import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  proof: {
    canonical: {
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
  },
  checkpoints: {
    canonical: {
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
  },
  export: {
    canonical: {
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
  },
} satisfies Readonly<Record<string, Examples>>;
