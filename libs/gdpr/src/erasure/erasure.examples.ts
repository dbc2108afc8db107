import { EXAMPLE, EXAMPLE_SUBJECT, type Examples } from '@app/http';
import { NOTICE } from './erasure.dto';

const FORGOTTEN = {
  request_id: EXAMPLE.request_id,
  status: 'completed',
  deleted_categories: [EXAMPLE.category],
  completed_at: EXAMPLE.time,
  certificate_salt: 'mBq3rV0cT8y1Zk5wXp2sNg',
  notice: NOTICE,
};

export const EXAMPLES = {
  forget: {
    canonical: {
      summary: 'One user in one guild',
      body: EXAMPLE_SUBJECT,
      answer: FORGOTTEN,
    },
    all_guilds: {
      summary: 'One user in every guild of the bot',
      body: { user_id: EXAMPLE.user_id, scope: 'all_guilds' },
      answer: {
        user_id: EXAMPLE.user_id,
        scope: 'all_guilds',
        status: 'completed',
        requests: [{ guild_id: EXAMPLE.guild_id, ...FORGOTTEN }],
        notice: NOTICE,
      },
    },
  },
  status: {
    answer: {
      request_id: EXAMPLE.request_id,
      status: 'completed',
      user_id: EXAMPLE.user_id,
      guild_id: EXAMPLE.guild_id,
      created_at: EXAMPLE.time,
      completed_at: EXAMPLE.time,
      unrecoverable_at: EXAMPLE.time,
      deleted_categories: [EXAMPLE.category],
      webhook_sent: true,
      coverage: {
        complete: false,
        holders: [
          {
            key: 'database',
            label_de: 'Datenbank des Bots',
            label_en: 'Database on the server of the bot',
            result: 'pending',
            at: null,
          },
        ],
      },
    },
  },
  certificate: { answer: { certificate: EXAMPLE.jws } },
  deleteGuild: { answer: { guild_id: EXAMPLE.guild_id, deleted: true, erased_users: 0 } },
} satisfies Readonly<Record<string, Examples>>;
