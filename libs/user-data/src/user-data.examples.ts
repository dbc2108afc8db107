import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';

const PROFILE = { ...EXAMPLE_SUBJECT, category: EXAMPLE.category };
const VALUES = { nickname: 'Robin', birthday: '2000-02-29' };

export const EXAMPLES = {
  submit: {
    canonical: {
      summary: 'Replace what is stored under the category',
      body: { ...PROFILE, data: VALUES },
    },
    merge: {
      summary: 'Change one field and leave the others as they are',
      body: { ...PROFILE, data: { nickname: 'Robbie' }, mode: 'merge' },
    },
    guide: {
      summary: 'With bot_id in place of guild_id: the scope of the whole bot',
      body: {
        bot_id: EXAMPLE.platform_bot_id,
        user_id: EXAMPLE.user_id,
        category: 'levels',
        data: { experience: 1200 },
      },
    },
  },
  submitBatch: {
    body: {
      items: [
        { ...PROFILE, data: VALUES },
        { ...PROFILE, category: 'unknown', data: { level: 3 } },
      ],
    },
  },
} satisfies Readonly<Record<string, Examples>>;
