import { EXAMPLE, type Examples } from '@app/http';

const PURPOSE = {
  description_de: 'Um Mitglieder mit ihrem Namen zu begrüßen',
  description_en: 'To greet members by name',
};

const PROFILE = {
  key: EXAMPLE.category,
  label_de: 'Profil',
  label_en: 'Profile',
  ...PURPOSE,
  retention_days: 365,
  legal_basis: 'consent',
  fields: [
    { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname', description: null },
    { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday', description: null },
  ],
};

const LEVELS = {
  name: 'levels',
  description: 'Experience per user',
  retention_days: 365,
  legal_basis: 'consent',
};

export const EXAMPLES = {
  register: {
    canonical: {
      summary: 'One category with its fields',
      body: PROFILE,
      answer: {
        id: '0198c0de-0000-7000-8000-000000000014',
        key: EXAMPLE.category,
        label_de: 'Profil',
        label_en: 'Profile',
        description: null,
        ...PURPOSE,
        retention_days: 365,
        legal_basis: 'consent',
        fields: [
          { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname', description: null },
          { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday', description: null },
        ],
        created_at: EXAMPLE.time,
      },
    },
    guide: {
      summary: 'With bot_id: several categories that take any object',
      body: { bot_id: EXAMPLE.platform_bot_id, categories: [LEVELS] },
      answer: {
        categories: [
          {
            id: '0198c0de-0000-7000-8000-000000000015',
            key: 'levels',
            label_de: 'levels',
            label_en: 'levels',
            description: 'Experience per user',
            retention_days: 365,
            legal_basis: 'consent',
            fields: [],
            created_at: EXAMPLE.time,
          },
        ],
      },
    },
  },
  list: {
    canonical: {
      answer: {
        categories: [
          {
            id: '0198c0de-0000-7000-8000-000000000014',
            key: EXAMPLE.category,
            label_de: 'Profil',
            label_en: 'Profile',
            description: null,
            ...PURPOSE,
            retention_days: 365,
            legal_basis: 'consent',
            fields: [
              {
                key: 'nickname',
                type: 'string',
                label_de: 'Spitzname',
                label_en: 'Nickname',
                description: null,
              },
              {
                key: 'birthday',
                type: 'date',
                label_de: 'Geburtstag',
                label_en: 'Birthday',
                description: null,
              },
            ],
            created_at: EXAMPLE.time,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 1, total_pages: 1, next: null },
      },
    },
  },
  view: {
    canonical: {
      answer: {
        id: '0198c0de-0000-7000-8000-000000000014',
        key: EXAMPLE.category,
        label_de: 'Profil',
        label_en: 'Profile',
        description: null,
        ...PURPOSE,
        retention_days: 365,
        legal_basis: 'consent',
        fields: [
          { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname', description: null },
          { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday', description: null },
        ],
        created_at: EXAMPLE.time,
      },
    },
  },
  change: {
    canonical: {
      body: { label_en: 'Public profile' },
      answer: {
        id: '0198c0de-0000-7000-8000-000000000014',
        key: EXAMPLE.category,
        label_de: 'Profil',
        label_en: 'Public profile',
        description: null,
        ...PURPOSE,
        retention_days: 365,
        legal_basis: 'consent',
        fields: [
          { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname', description: null },
          { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday', description: null },
        ],
        created_at: EXAMPLE.time,
      },
    },
  },
  delete: { canonical: { answer: { key: EXAMPLE.category, deleted: true } } },
} satisfies Readonly<Record<string, Examples>>;
