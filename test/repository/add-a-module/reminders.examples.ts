import { EXAMPLE_SUBJECT, type Examples } from '@app/http';

export const EXAMPLES = {
  add: {
    body: { ...EXAMPLE_SUBJECT, text: 'Water the plants', due_at: '2027-01-01T08:00:00.000Z' },
    answer: {
      id: '0198c0de-0000-7000-8000-000000000011',
      text: 'Water the plants',
      due_at: '2027-01-01T08:00:00.000Z',
    },
  },
} satisfies Readonly<Record<string, Examples>>;
