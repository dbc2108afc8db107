import { EXAMPLE, type Examples } from '@app/http';

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

const LEVELS = { description: 'Experience per user', retention_days: 365, legal_basis: 'consent' };

export const EXAMPLES = {
  register: {
    canonical: { summary: 'One category with its fields', body: PROFILE },
    guide: {
      summary: 'With bot_id: several categories that take any object',
      body: { bot_id: EXAMPLE.platform_bot_id, categories: [{ name: 'levels', ...LEVELS }] },
    },
  },
  change: { body: { label_en: 'Public profile' } },
} satisfies Readonly<Record<string, Examples>>;
