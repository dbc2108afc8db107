import { EXAMPLE, type Examples } from '@app/http';

const TEXT = {
  consent_version: EXAMPLE.consent_version,
  language: 'en',
  title: 'May we keep your profile?',
  body: 'We keep the nickname that you choose, to greet you by it. You can withdraw your consent at any time.',
  categories: [{ key: EXAMPLE.category, label: 'Profile', text: 'Your nickname and your birthday.' }],
  accept_label: 'Yes',
  decline_label: 'No',
  privacy_notice: 'https://bot.example.org/privacy',
  withdrawal_method: 'Type /privacy withdraw',
};

export const EXAMPLES = {
  register: {
    canonical: {
      body: TEXT,
      answer: {
        consent_version: EXAMPLE.consent_version,
        language: 'en',
        digest: EXAMPLE.digest,
        title: 'May we keep your profile?',
        body: 'We keep the nickname that you choose, to greet you by it. You can withdraw your consent at any time.',
        categories: [{ key: EXAMPLE.category, label: 'Profile', text: 'Your nickname and your birthday.' }],
        accept_label: 'Yes',
        decline_label: 'No',
        privacy_notice: 'https://bot.example.org/privacy',
        withdrawal_method: 'Type /privacy withdraw',
        created_at: EXAMPLE.time,
      },
    },
  },
  words: {
    canonical: {
      answer: {
        digest: EXAMPLE.digest,
        title: TEXT.title,
        body: TEXT.body,
        categories: TEXT.categories,
        accept_label: TEXT.accept_label,
        decline_label: TEXT.decline_label,
        privacy_notice: TEXT.privacy_notice,
        withdrawal_method: TEXT.withdrawal_method,
      },
    },
  },
  list: {
    canonical: {
      answer: {
        texts: [
          {
            consent_version: EXAMPLE.consent_version,
            language: 'en',
            digest: EXAMPLE.digest,
            title: 'May we keep your profile?',
            body: 'We keep the nickname that you choose, to greet you by it. You can withdraw your consent at any time.',
            categories: [
              { key: EXAMPLE.category, label: 'Profile', text: 'Your nickname and your birthday.' },
            ],
            accept_label: 'Yes',
            decline_label: 'No',
            privacy_notice: 'https://bot.example.org/privacy',
            withdrawal_method: 'Type /privacy withdraw',
            created_at: EXAMPLE.time,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 1, total_pages: 1, next: null },
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
