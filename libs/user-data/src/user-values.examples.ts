import { EXAMPLE, EXAMPLE_SUBJECT, type Examples, examplePage } from '@app/http';

const PROFILE = { nickname: 'Robin', birthday: '2000-02-29' };

export const EXAMPLES = {
  ofUser: {
    canonical: {
      answer: {
        ...EXAMPLE_SUBJECT,
        values: { [EXAMPLE.category]: PROFILE },
        updated_at: { [EXAMPLE.category]: EXAMPLE.time },
      },
    },
  },
  ofGuild: {
    canonical: {
      answer: {
        values: [{ user_id: EXAMPLE.user_id, data: PROFILE, updated_at: EXAMPLE.time }],
        pagination: examplePage(1),
      },
    },
  },
  erase: { canonical: { answer: { deleted: true } } },
} satisfies Readonly<Record<string, Examples>>;
