import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';

export const EXAMPLES = {
  create: {
    canonical: {
      body: { ...EXAMPLE_SUBJECT, language: 'de', expires_in: 900 },
      answer: {
        id: EXAMPLE.link_id,
        url: 'https://gdpr.example.org/p/shown-only-here-unguessable',
        expires_at: EXAMPLE.time,
      },
    },
  },
  remove: { canonical: { answer: { id: EXAMPLE.link_id, deleted: true } } },
} satisfies Readonly<Record<string, Examples>>;
