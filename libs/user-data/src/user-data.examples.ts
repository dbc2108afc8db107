import { EXAMPLE, EXAMPLE_SUBJECT, examplePage, type Examples } from '@app/http';

const PROFILE = { ...EXAMPLE_SUBJECT, category: EXAMPLE.category };
const VALUES = { nickname: 'Robin', birthday: '2000-02-29' };
const STORED = { ...PROFILE, stored: true, updated_at: EXAMPLE.time };

export const EXAMPLES = {
  submit: {
    canonical: {
      summary: 'Replace what is stored under the category',
      body: { ...PROFILE, data: VALUES },
      answer: STORED,
    },
    merge: {
      summary: 'Change one field and leave the others as they are',
      body: { ...PROFILE, data: { nickname: 'Robbie' }, mode: 'merge' },
      answer: STORED,
    },
    guide: {
      summary: 'With bot_id in place of guild_id: the scope of the whole bot',
      body: {
        bot_id: EXAMPLE.platform_bot_id,
        user_id: EXAMPLE.user_id,
        category: 'levels',
        data: { experience: 1200 },
      },
      answer: { ...STORED, guild_id: '00000000000000000', category: 'levels' },
    },
  },
  submitBatch: {
    body: {
      items: [
        { ...PROFILE, data: VALUES },
        { ...PROFILE, category: 'unknown', data: { level: 3 } },
      ],
    },
    answer: {
      results: [
        { ok: true, data: STORED },
        { ok: false, error: { code: 'not_found', message: 'Category not found' } },
      ],
    },
  },
  ofUser: {
    answer: {
      ...EXAMPLE_SUBJECT,
      values: { [EXAMPLE.category]: VALUES },
      updated_at: { [EXAMPLE.category]: EXAMPLE.time },
    },
  },
  ofGuild: {
    answer: {
      values: [{ user_id: EXAMPLE.user_id, data: VALUES, updated_at: EXAMPLE.time }],
      pagination: examplePage(1),
    },
  },
  erase: { answer: { deleted: true } },
} satisfies Readonly<Record<string, Examples>>;
