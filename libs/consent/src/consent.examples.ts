import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';

const FOR_GUILD = 'One user in one guild';
const FOR_BOT = 'With bot_id in place of guild_id: one user in the scope of the whole bot';

const REQUEST = { ...EXAMPLE_SUBJECT, consent_version: EXAMPLE.consent_version };
const OF_BOT = { bot_id: EXAMPLE.platform_bot_id, user_id: EXAMPLE.user_id };

const OTHER_USER = '423456789012345678';

export const EXAMPLES = {
  request: {
    canonical: {
      summary: FOR_GUILD,
      body: REQUEST,
    },
    guide: {
      summary: FOR_BOT,
      body: { ...OF_BOT, categories: ['levels'], language: 'en' },
    },
  },
  accept: {
    canonical: {
      summary: FOR_GUILD,
      body: REQUEST,
    },
    guide: {
      summary: 'By the id of the request',
      body: { consent_id: EXAMPLE.consent_id, categories: ['levels'] },
    },
  },
  decline: {
    summary: FOR_GUILD,
    body: EXAMPLE_SUBJECT,
  },
  revoke: {
    canonical: {
      summary: FOR_GUILD,
      body: EXAMPLE_SUBJECT,
    },
    guide: {
      summary: FOR_BOT,
      body: { ...OF_BOT, categories: ['levels'] },
    },
  },
  statusBatch: {
    body: {
      items: [
        { user_id: EXAMPLE.user_id, guild_id: EXAMPLE.guild_id },
        { user_id: OTHER_USER, guild_id: EXAMPLE.guild_id },
      ],
    },
  },
} satisfies Readonly<Record<string, Examples>>;
