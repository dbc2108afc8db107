import { EXAMPLE, type Examples } from '@app/http';

const GREETER = {
  platform_bot_id: EXAMPLE.platform_bot_id,
  name: 'Greeter',
  privacy_contact: 'privacy@example.org',
  webhook_url: 'https://bot.example.org/gdpr',
};

export const EXAMPLES = {
  register: {
    canonical: { summary: 'By platform_bot_id', body: GREETER },
    guide: {
      summary: 'With bot_id in place of platform_bot_id',
      body: { bot_id: EXAMPLE.platform_bot_id, name: 'Greeter', webhook_url: 'https://bot.example.org/gdpr' },
    },
  },
  change: { body: { name: 'Greeter of the garden', privacy_contact: null } },
  rotateSecret: { body: { overlap_seconds: 86400 } },
} satisfies Readonly<Record<string, Examples>>;
