import { EXAMPLE, type Examples } from '@app/http';

export const RECEIPT = {
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
} satisfies Examples;
