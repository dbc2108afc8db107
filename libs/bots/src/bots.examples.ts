import { EXAMPLE, type Examples } from '@app/http';
import { NOTICE } from './bots.service';

const GREETER = {
  platform_bot_id: EXAMPLE.platform_bot_id,
  name: 'Greeter',
  privacy_contact: 'privacy@example.org',
  webhook_url: 'https://bot.example.org/gdpr',
};

const REGISTERED = {
  id: EXAMPLE.bot_id,
  platform_bot_id: EXAMPLE.platform_bot_id,
  name: 'Greeter',
  api_key: 'sk_live_shown-only-here-keep-it-secret',
  api_key_prefix: 'sk_live_shown-on',
  webhook_secret: 'whsec_shown-only-here-keep-it-secret',
  notice: NOTICE,
};

const BOT = {
  id: EXAMPLE.bot_id,
  ...GREETER,
  webhook_health: {
    status: 'healthy',
    pending: 0,
    undelivered: 0,
    consecutive_failures: 0,
    last_outcome: 'confirmed',
    last_delivered_at: EXAMPLE.time,
    last_failed_at: null,
  },
  api_key_prefix: 'sk_live_shown-on',
  created_at: EXAMPLE.time,
  updated_at: EXAMPLE.time,
};

export const EXAMPLES = {
  register: {
    canonical: { summary: 'By platform_bot_id', body: GREETER, answer: REGISTERED },
    guide: {
      summary: 'With bot_id in place of platform_bot_id',
      body: { bot_id: EXAMPLE.platform_bot_id, name: 'Greeter', webhook_url: 'https://bot.example.org/gdpr' },
      answer: REGISTERED,
    },
  },
  view: { answer: BOT },
  change: {
    body: { name: 'Greeter of the garden', privacy_contact: null },
    answer: { ...BOT, name: 'Greeter of the garden', privacy_contact: null },
  },
  rotateSecret: {
    body: { overlap_seconds: 86400 },
    answer: {
      webhook_secret: 'whsec_shown-only-here-keep-it-secret',
      overlap_until: '2026-11-21T12:00:00.000Z',
    },
  },
  delete: { answer: { id: EXAMPLE.bot_id, deleted: true, deleted_at: EXAMPLE.time } },
} satisfies Readonly<Record<string, Examples>>;
