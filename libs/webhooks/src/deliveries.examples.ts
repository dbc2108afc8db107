import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  list: {
    canonical: {
      answer: {
        deliveries: [
          {
            id: EXAMPLE.delivery_id,
            event: 'ping',
            status: 'delivered',
            user_id: null,
            guild_id: null,
            request_id: null,
            attempt_count: 1,
            last_outcome: 'confirmed',
            last_status_code: 200,
            created_at: EXAMPLE.time,
            next_attempt_at: null,
            finished_at: EXAMPLE.time,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 1, total_pages: 1, next: null },
      },
    },
  },
  view: {
    canonical: {
      answer: {
        id: EXAMPLE.delivery_id,
        event: 'ping',
        status: 'delivered',
        user_id: null,
        guild_id: null,
        request_id: null,
        attempt_count: 1,
        last_outcome: 'confirmed',
        last_status_code: 200,
        created_at: EXAMPLE.time,
        next_attempt_at: null,
        finished_at: EXAMPLE.time,
        payload: { event: 'ping', sent_at: EXAMPLE.time },
        attempts: [
          { number: 1, started_at: EXAMPLE.time, duration_ms: 7, outcome: 'confirmed', status_code: 200 },
        ],
      },
    },
  },
  redeliver: {
    canonical: {
      answer: {
        id: EXAMPLE.delivery_id,
        event: 'ping',
        status: 'pending',
        user_id: null,
        guild_id: null,
        request_id: null,
        attempt_count: 1,
        last_outcome: 'confirmed',
        last_status_code: 200,
        created_at: EXAMPLE.time,
        next_attempt_at: EXAMPLE.time,
        finished_at: null,
      },
    },
  },
  replay: { canonical: { body: { since: '2026-11-01T00:00:00Z' }, answer: { queued: 0 } } },
  test: {
    canonical: {
      answer: {
        id: EXAMPLE.delivery_id,
        event: 'ping',
        status: 'pending',
        user_id: null,
        guild_id: null,
        request_id: null,
        attempt_count: 0,
        last_outcome: null,
        last_status_code: null,
        created_at: EXAMPLE.time,
        next_attempt_at: EXAMPLE.time,
        finished_at: null,
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
