import { EXAMPLE, EXAMPLE_SUBJECT, examplePage, type Examples } from '@app/http';

const FOR_GUILD = 'One user in one guild';
const FOR_BOT = 'With bot_id in place of guild_id: one user in the scope of the whole bot';

const REQUEST = { ...EXAMPLE_SUBJECT, consent_version: EXAMPLE.consent_version };
const OF_BOT = { bot_id: EXAMPLE.platform_bot_id, user_id: EXAMPLE.user_id };

const OTHER_USER = '423456789012345678';
/** A digest of the declarations. */
const DECLARED_VERSION = 'sha256:70192098221ac7b84d57f939663eca42';

const ACCEPTED = {
  id: EXAMPLE.consent_id,
  status: 'accepted',
  version: EXAMPLE.consent_version,
  ...EXAMPLE_SUBJECT,
  requested_at: EXAMPLE.time,
  accepted_at: EXAMPLE.time,
  revoked_at: null,
};
const ACCEPTED_FOR_BOT = { ...ACCEPTED, version: DECLARED_VERSION, guild_id: '00000000000000000' };
const NEVER_ASKED = {
  status: 'none',
  version: null,
  ...EXAMPLE_SUBJECT,
  accepted_at: null,
  revoked_at: null,
  declined_at: null,
};
const ACCEPTED_STATUS = {
  ...NEVER_ASKED,
  status: 'accepted',
  version: EXAMPLE.consent_version,
  accepted_at: EXAMPLE.time,
};
const DECIDED = {
  id: '0198c0de-0000-7000-8000-000000000016',
  consent_id: EXAMPLE.consent_id,
  action: 'accepted',
  version: EXAMPLE.consent_version,
  categories: null,
  language: null,
  texts: [{ language: 'en', digest: EXAMPLE.digest }],
  source: 'api',
  created_at: EXAMPLE.time,
};

const RECEIPT = {
  answer: {
    receipt: EXAMPLE.jws,
    payload: {
      schema_version: 'lethe-consent-receipt/1; ISO/IEC TS 27560:2023',
      receipt_id: DECIDED.id,
      record_id: EXAMPLE.consent_id,
      pii_principal_id: EXAMPLE.user_id,
      pii_processing: {
        privacy_notice: {
          consent_version: EXAMPLE.consent_version,
          url: 'https://bot.example.org/privacy',
          texts: [{ language: 'en', digest: EXAMPLE.digest }],
        },
        language: 'en',
        service: { bot_id: EXAMPLE.bot_id, bot_name: 'Greeter', guild_id: EXAMPLE.guild_id },
        purposes: [
          {
            purpose: EXAMPLE.category,
            declared_at: EXAMPLE.time,
            purpose_label: { de: 'Profil', en: 'Profile' },
            purpose_description: 'To greet members by name',
            purpose_descriptions: {
              de: 'Um Mitglieder mit ihrem Namen zu begrüßen',
              en: 'To greet members by name',
            },
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
            withdrawal_method: 'Type /privacy revoke',
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
} satisfies Examples;

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
        version: DECLARED_VERSION,
        requested_at: EXAMPLE.time,
        consent_id: EXAMPLE.consent_id,
        categories: ['levels'],
        texts: {
          title: 'May we store data about you?',
          body: 'Greeter would like to store the data listed below. You decide freely, you can withdraw your consent at any time with effect for the future, and you can ask for a copy or the erasure of your data.',
          categories: [
            {
              key: 'levels',
              label: 'levels',
              text: 'Experience per user. Kept for 365 days after the last change.',
            },
          ],
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
        ...ACCEPTED,
        receipt: EXAMPLE.jws,
      },
    },
    guide: {
      summary: 'By the id of the request',
      body: { consent_id: EXAMPLE.consent_id, categories: ['levels'] },
      answer: {
        ...ACCEPTED_FOR_BOT,
        categories: [{ key: 'levels', status: 'accepted' }],
        receipt: EXAMPLE.jws,
      },
    },
  },
  decline: {
    summary: FOR_GUILD,
    body: EXAMPLE_SUBJECT,
    answer: { ...NEVER_ASKED, declined_at: EXAMPLE.time },
  },
  revoke: {
    canonical: {
      summary: FOR_GUILD,
      body: EXAMPLE_SUBJECT,
      answer: {
        ...ACCEPTED,
        status: 'revoked',
        revoked_at: EXAMPLE.time,
        data_erased_at: EXAMPLE.later,
      },
    },
    guide: {
      summary: FOR_BOT,
      body: { ...OF_BOT, categories: ['levels'] },
      answer: {
        ...ACCEPTED_FOR_BOT,
        status: 'revoked',
        revoked_at: EXAMPLE.time,
        data_erased_at: EXAMPLE.later,
        categories: [{ key: 'levels', status: 'revoked', data_erased_at: EXAMPLE.later }],
      },
    },
  },
  status: { answer: ACCEPTED_STATUS },
  statusBatch: {
    body: {
      items: [
        { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id },
        { user_id: OTHER_USER, guild_id: EXAMPLE.guild_id },
      ],
    },
    answer: {
      results: [ACCEPTED_STATUS, { ...NEVER_ASKED, user_id: OTHER_USER }],
    },
  },
  history: {
    answer: {
      entries: [DECIDED, { ...DECIDED, id: '0198c0de-0000-7000-8000-000000000017', action: 'requested' }],
      pagination: examplePage(2),
    },
  },
  receipt: RECEIPT,
  users: {
    answer: {
      users: [{ ...ACCEPTED_STATUS, updated_at: EXAMPLE.time }],
      pagination: { page_size: 20, next: null },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
