import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';
import { RECEIPT } from './consent-receipt.examples';

const FOR_GUILD = 'One user in one guild';
const FOR_BOT = 'With bot_id in place of guild_id: one user in the scope of the whole bot';

const REQUEST = { ...EXAMPLE_SUBJECT, consent_version: EXAMPLE.consent_version };
const OF_BOT = { bot_id: EXAMPLE.platform_bot_id, user_id: EXAMPLE.user_id };

export const EXAMPLES = {
  request: {
    canonical: {
      summary: FOR_GUILD,
      body: REQUEST,
      answer: {
        id: EXAMPLE.consent_id,
        status: 'pending',
        version: EXAMPLE.consent_version,
        requested_at: EXAMPLE.time,
      },
    },
    guide: {
      summary: FOR_BOT,
      body: { ...OF_BOT, categories: ['levels'], language: 'en' },
      answer: {
        id: EXAMPLE.consent_id,
        status: 'pending',
        version: 'sha256:70192098221ac7b84d57f939663eca42',
        requested_at: EXAMPLE.time,
        consent_id: EXAMPLE.consent_id,
        categories: ['levels'],
        texts: {
          title: 'May we store data about you?',
          body: 'Greeter would like to store the data listed below. You decide freely, you can withdraw your consent at any time with effect for the future, and you can ask for a copy or the erasure of your data.',
          categories: [{ key: 'levels', label: 'levels', text: 'Experience per user. Kept for 365 days.' }],
          accept_label: 'I agree',
          decline_label: 'No, thank you',
        },
      },
    },
  },
  accept: {
    canonical: {
      summary: FOR_GUILD,
      body: REQUEST,
      answer: {
        id: EXAMPLE.consent_id,
        status: 'accepted',
        version: EXAMPLE.consent_version,
        user_id: EXAMPLE.user_id,
        guild_id: EXAMPLE.guild_id,
        requested_at: EXAMPLE.time,
        accepted_at: EXAMPLE.time,
        revoked_at: null,
        receipt: EXAMPLE.jws,
      },
    },
    guide: {
      summary: 'By the id of the request',
      body: { consent_id: EXAMPLE.consent_id, categories: ['levels'] },
      answer: {
        id: EXAMPLE.consent_id,
        status: 'accepted',
        version: 'sha256:70192098221ac7b84d57f939663eca42',
        user_id: EXAMPLE.user_id,
        guild_id: '00000000000000000',
        requested_at: EXAMPLE.time,
        accepted_at: EXAMPLE.time,
        revoked_at: null,
        categories: [{ key: 'levels', status: 'accepted' }],
        receipt: EXAMPLE.jws,
      },
    },
  },
  decline: {
    canonical: {
      summary: FOR_GUILD,
      body: EXAMPLE_SUBJECT,
      answer: {
        status: 'none',
        version: null,
        user_id: EXAMPLE.user_id,
        guild_id: EXAMPLE.guild_id,
        accepted_at: null,
        revoked_at: null,
        declined_at: EXAMPLE.time,
      },
    },
  },
  revoke: {
    canonical: {
      summary: FOR_GUILD,
      body: EXAMPLE_SUBJECT,
      answer: {
        id: EXAMPLE.consent_id,
        status: 'revoked',
        version: EXAMPLE.consent_version,
        user_id: EXAMPLE.user_id,
        guild_id: EXAMPLE.guild_id,
        requested_at: EXAMPLE.time,
        accepted_at: EXAMPLE.time,
        revoked_at: EXAMPLE.time,
        data_erased_at: EXAMPLE.later,
      },
    },
    guide: {
      summary: FOR_BOT,
      body: { ...OF_BOT, categories: ['levels'] },
      answer: {
        id: EXAMPLE.consent_id,
        status: 'revoked',
        version: 'sha256:70192098221ac7b84d57f939663eca42',
        user_id: EXAMPLE.user_id,
        guild_id: '00000000000000000',
        requested_at: EXAMPLE.time,
        accepted_at: EXAMPLE.time,
        revoked_at: EXAMPLE.time,
        data_erased_at: EXAMPLE.later,
        categories: [{ key: 'levels', status: 'revoked', data_erased_at: EXAMPLE.later }],
      },
    },
  },
  status: {
    canonical: {
      answer: {
        status: 'accepted',
        version: EXAMPLE.consent_version,
        user_id: EXAMPLE.user_id,
        guild_id: EXAMPLE.guild_id,
        accepted_at: EXAMPLE.time,
        revoked_at: null,
        declined_at: null,
      },
    },
  },
  statusBatch: {
    canonical: {
      body: {
        items: [
          { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id },
          { user_id: '423456789012345678', guild_id: EXAMPLE.guild_id },
        ],
      },
      answer: {
        results: [
          {
            status: 'accepted',
            version: EXAMPLE.consent_version,
            user_id: EXAMPLE.user_id,
            guild_id: EXAMPLE.guild_id,
            accepted_at: EXAMPLE.time,
            revoked_at: null,
            declined_at: null,
          },
          {
            status: 'none',
            version: null,
            user_id: '423456789012345678',
            guild_id: EXAMPLE.guild_id,
            accepted_at: null,
            revoked_at: null,
            declined_at: null,
          },
        ],
      },
    },
  },
  history: {
    canonical: {
      answer: {
        entries: [
          {
            id: '0198c0de-0000-7000-8000-000000000016',
            consent_id: EXAMPLE.consent_id,
            action: 'accepted',
            version: EXAMPLE.consent_version,
            categories: null,
            language: null,
            texts: [{ language: 'en', digest: EXAMPLE.digest }],
            source: 'api',
            created_at: EXAMPLE.time,
          },
          {
            id: '0198c0de-0000-7000-8000-000000000017',
            consent_id: EXAMPLE.consent_id,
            action: 'requested',
            version: EXAMPLE.consent_version,
            categories: null,
            language: null,
            texts: [{ language: 'en', digest: EXAMPLE.digest }],
            source: 'api',
            created_at: EXAMPLE.time,
          },
        ],
        pagination: { page: 1, page_size: 20, total_count: 2, total_pages: 1, next: null },
      },
    },
  },
  receipt: RECEIPT,
} satisfies Readonly<Record<string, Examples>>;
