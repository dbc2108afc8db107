import { EXAMPLE, examplePage, type Examples } from '@app/http';

const FIELDS = [
  { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname', description: null },
  { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday', description: null },
];

const PROFILE = {
  key: EXAMPLE.category,
  label_de: 'Profil',
  label_en: 'Profile',
  description_de: 'Um Mitglieder mit ihrem Namen zu begrüßen',
  description_en: 'To greet members by name',
  retention_days: 365,
  legal_basis: 'consent',
  fields: FIELDS,
};

const PROFILE_VIEW = {
  id: '0198c0de-0000-7000-8000-000000000014',
  key: EXAMPLE.category,
  label_de: 'Profil',
  label_en: 'Profile',
  description: null,
  description_de: 'Um Mitglieder mit ihrem Namen zu begrüßen',
  description_en: 'To greet members by name',
  retention_days: 365,
  legal_basis: 'consent',
  fields: FIELDS,
  created_at: EXAMPLE.time,
};

const LEVELS = { description: 'Experience per user', retention_days: 365, legal_basis: 'consent' };

export const EXAMPLES = {
  register: {
    canonical: { summary: 'One category with its fields', body: PROFILE, answer: PROFILE_VIEW },
    guide: {
      summary: 'With bot_id: several categories that take any object',
      body: { bot_id: EXAMPLE.platform_bot_id, categories: [{ name: 'levels', ...LEVELS }] },
      answer: {
        categories: [
          {
            id: '0198c0de-0000-7000-8000-000000000015',
            key: 'levels',
            label_de: 'levels',
            label_en: 'levels',
            ...LEVELS,
            fields: [],
            created_at: EXAMPLE.time,
          },
        ],
      },
    },
  },
  list: {
    answer: {
      categories: [PROFILE_VIEW],
      pagination: examplePage(1),
    },
  },
  view: { answer: PROFILE_VIEW },
  change: {
    body: { label_en: 'Public profile' },
    answer: { ...PROFILE_VIEW, label_en: 'Public profile' },
  },
  delete: { answer: { key: EXAMPLE.category, deleted: true } },
} satisfies Readonly<Record<string, Examples>>;
