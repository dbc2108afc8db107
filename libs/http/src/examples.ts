/** Ids, names and times of every example: one bot and one user, so that each example can follow the one before it. */
export const EXAMPLE = {
  bot_id: '0198c0de-0000-7000-8000-000000000001',
  platform_bot_id: '987654321098765432',
  user_id: '123456789012345678',
  guild_id: '223456789012345678',
  consent_id: '0198c0de-0000-7000-8000-000000000002',
  request_id: '0198c0de-0000-7000-8000-000000000003',
  delivery_id: '0198c0de-0000-7000-8000-000000000004',
  event_id: '0198c0de-0000-7000-8000-000000000005',
  key_id: '0198c0de-0000-7000-8000-000000000006',
  link_id: '0198c0de-0000-7000-8000-000000000008',
  rotated_key_id: '0198c0de-0000-7000-8000-000000000007',
  category: 'profile',
  consent_version: '1.0',
  time: '2026-11-20T12:00:00.000Z',
  later: '2026-12-20T12:00:00.000Z',
  /** Base64url of 32 bytes. */
  hash: 'YvZ3sZyTq0M9mQ0rQb1m1c2n3o4p5q6r7s8t9u0v1w8',
  digest: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  /** A compact JWS with a shortened signature. */
  jws: 'eyJhbGciOiJFZERTQSIsImtpZCI6IjAxOThjMGRlIn0.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl',
} as const;

/** The user and the guild of the examples. */
export const EXAMPLE_SUBJECT = { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id } as const;

/** The `pagination` of a list that fits on one page. */
export function examplePage(count: number): object {
  return { page: 1, page_size: 20, total_count: count, total_pages: Math.min(count, 1), next: null };
}
