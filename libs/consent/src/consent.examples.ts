import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';

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
          categories: [{ key: 'levels', label: 'levels', text: 'Experience per user Kept for 365 days.' }],
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
        pagination: { page: 1, page_size: 20, total_count: 2, total_pages: 1 },
      },
    },
  },
  receipt: {
    canonical: {
      answer: {
        receipt: EXAMPLE.jws,
        payload: {
          schema_version: 'lethe-consent-receipt/1; ISO/IEC TS 27560:2023',
          receipt_id: '0198c0de-0000-7000-8000-000000000016',
          record_id: EXAMPLE.consent_id,
          pii_principal_id: EXAMPLE.user_id,
          pii_processing: {
            privacy_notice: {
              consent_version: EXAMPLE.consent_version,
              url: 'https://bot.example.org/privacy',
              texts: [{ language: 'en', digest: EXAMPLE.digest }],
            },
            language: 'en',
            service: { bot_id: EXAMPLE.bot_id, guild_id: EXAMPLE.guild_id },
            purposes: [
              {
                purpose: EXAMPLE.category,
                declared_at: EXAMPLE.time,
                purpose_label: { de: 'Profil', en: 'Profile' },
                purpose_description: 'To greet members by name',
                lawful_basis: 'consent',
                pii_information: [
                  { pii_type: 'nickname', pii_type_label: { de: 'Spitzname', en: 'Nickname' } },
                  { pii_type: 'birthday', pii_type_label: { de: 'Geburtstag', en: 'Birthday' } },
                ],
                pii_controllers: [EXAMPLE.bot_id],
                retention_period: 'P365D',
                storage_locations: null,
                jurisdiction: null,
                recipient_third_parties: null,
                withdrawal_method: 'Type /privacy withdraw',
              },
            ],
            purposes_omitted: 0,
          },
          party_identification: [
            {
              party_id: EXAMPLE.bot_id,
              party_role: 'pii_controller',
              party_name: 'Greeter',
              party_contact: 'privacy@example.org',
              party_address: null,
            },
          ],
          event: {
            event_time: EXAMPLE.time,
            validity_duration: 'until_withdrawn',
            entity_id: EXAMPLE.user_id,
            event_type: 'expressed',
            event_state: 'consent_given',
            source: 'api',
          },
        },
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
