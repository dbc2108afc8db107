import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  breachScope: {
    canonical: {
      answer: {
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        generated_at: EXAMPLE.time,
        log_begins_at: EXAMPLE.time,
        exact: true,
        affected: { subjects: 1, users: 1, guilds: 1 },
        acts: {
          stored: { events: 1, subjects: 1 },
          exported: { events: 1, subjects: 1 },
          deleted: { events: 0, subjects: 0 },
          erased: { events: 0, subjects: 0 },
        },
        records_held: 1,
        records_touched: 1,
        categories: [
          {
            category: EXAMPLE.category,
            label_de: 'Profil',
            label_en: 'Profile',
            records_held: 1,
            records_touched: 1,
          },
        ],
      },
    },
  },
  record: {
    canonical: {
      answer: {
        generated_at: EXAMPLE.time,
        controller: {
          bot_id: EXAMPLE.bot_id,
          platform_bot_id: EXAMPLE.platform_bot_id,
          name: 'Greeter',
          privacy_contact: 'privacy@example.org',
        },
        data_subjects:
          'Users of the platform with whom the bot deals, in the guilds that use it and in direct messages.',
        recipients: [
          {
            recipient: 'The bot, by its API key',
            host: null,
            receives: 'Everything that is stored of its users, on request',
          },
          {
            recipient: "The bot's webhook receiver",
            host: 'bot.example.org',
            receives:
              'Ids of users and guilds whose consent was withdrawn or who were erased, versions and times',
          },
        ],
        transfers:
          'Not known to this service: it depends on the place of this installation and of the webhook receiver. Their operators have to add it.',
        time_limits: [{ applies_to: 'Data that rested on a consent, after its withdrawal', days: 30 }],
        security_measures: [
          'Stored values and the details of audit events are encrypted with ChaCha20-Poly1305, by a key of its own for each user and guild.',
        ],
        activities: [
          {
            category: EXAMPLE.category,
            label_de: 'Profil',
            label_en: 'Profile',
            purpose: 'To greet members by name',
            purpose_de: 'Um Mitglieder mit ihrem Namen zu begrüßen',
            purpose_en: 'To greet members by name',
            legal_basis: 'consent',
            retention_days: 365,
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
          },
        ],
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
