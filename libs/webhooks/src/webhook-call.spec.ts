import type { Digest } from '@app/crypto';
import {
  confirmedPayload,
  consentRevokedPayload,
  holderTaskPayload,
  pingPayload,
  userForgottenPayload,
} from './webhook-call';

const ids = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const subject = { botId: 'b', guildId: 'g' as Digest, userId: 'u' as Digest, ids };
const time = '2026-01-01T00:00:00.000Z';
const forgotten = userForgottenPayload({ subject, requestId: 'r', completedAt: time });
const revoked = consentRevokedPayload({ subject, revokedAt: time, previousVersion: '1.0' });
const [task, question] = (['erase', 'export'] as const).map((act) =>
  holderTaskPayload({ subject, holderKey: 'h', act, taskId: 'r', createdAt: time, dueAt: time }),
) as [string, string];

describe('a payload', () => {
  it.each([forgotten, revoked, task, question, pingPayload(time)])(
    'is the same after being parsed and written again: %s',
    (text) => {
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    },
  );

  it('is cut to ids and times once it is confirmed, and still holds every required field', () => {
    expect(JSON.parse(confirmedPayload(forgotten))).toEqual({
      event: 'user_forgotten',
      request_id: 'r',
      ...ids,
      completed_at: time,
    });
    for (const whole of [task, question]) expect(confirmedPayload(whole)).toBe(whole);
    expect(JSON.parse(confirmedPayload(revoked))).toEqual({
      event: 'consent_revoked',
      ...ids,
      revoked_at: time,
    });
  });
});
