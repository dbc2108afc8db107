import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  user: {
    canonical: {
      answer: {
        userId: EXAMPLE.user_id,
        guildId: EXAMPLE.guild_id,
        exportedAt: EXAMPLE.time,
        bot: { id: EXAMPLE.bot_id, name: 'Greeter' },
        consent: { status: 'accepted', version: EXAMPLE.consent_version, acceptedAt: EXAMPLE.time },
        data: { profile: { nickname: 'Robin', birthday: '2000-02-29' } },
      },
    },
  },
} satisfies Readonly<Record<string, Examples>>;
