import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';

const PROFILE = { ...EXAMPLE_SUBJECT, category: EXAMPLE.category };

export const EXAMPLES = {
  submit: {
    canonical: {
      summary: 'Replace what is stored under the category',
      body: { ...PROFILE, data: { nickname: 'Robin', birthday: '2000-02-29' } },
      answer: {
        user_id: EXAMPLE.user_id,
        guild_id: EXAMPLE.guild_id,
        category: EXAMPLE.category,
        stored: true,
        updated_at: EXAMPLE.time,
      },
    },
    merge: {
      summary: 'Change one field and leave the others as they are',
      body: { ...PROFILE, data: { nickname: 'Robbie' }, mode: 'merge' },
      answer: {
        user_id: EXAMPLE.user_id,
        guild_id: EXAMPLE.guild_id,
        category: EXAMPLE.category,
        stored: true,
        updated_at: EXAMPLE.time,
      },
    },
    guide: {
      summary: 'With bot_id in place of guild_id: the scope of the whole bot',
      body: {
        bot_id: EXAMPLE.platform_bot_id,
        user_id: EXAMPLE.user_id,
        category: 'levels',
        data: { experience: 1200 },
      },
      answer: {
        user_id: EXAMPLE.user_id,
        guild_id: '00000000000000000',
        category: 'levels',
        stored: true,
        updated_at: EXAMPLE.time,
      },
    },
  },
  submitBatch: {
    canonical: {
      body: {
        items: [
          { ...PROFILE, data: { nickname: 'Robin', birthday: '2000-02-29' } },
          { ...PROFILE, category: 'unknown', data: { level: 3 } },
        ],
      },
      answer: {
        results: [
          {
            ok: true,
            data: {
              user_id: EXAMPLE.user_id,
              guild_id: EXAMPLE.guild_id,
              category: EXAMPLE.category,
              stored: true,
              updated_at: EXAMPLE.time,
            },
          },
          { ok: false, error: { code: 'not_found', message: 'Category not found' } },
        ],
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
