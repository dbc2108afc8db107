import type { Examples } from '@app/http';

export const EXAMPLES = {
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
            webhooks: {
              ...{ delivered: 3, failed: 1, exhausted: 0 },
              latency_ms: { p50: 63, p95: 1304, max: 1304 },
            },
            erasure_ms: { p50: 9, p95: 14, max: 14 },
          },
        ],
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
