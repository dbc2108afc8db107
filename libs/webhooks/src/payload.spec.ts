import { confirmedPayload, consentRevokedPayload, pingPayload, userForgottenPayload } from './payload';

const ids = { userId: '123456789012345678', guildId: '223456789012345678' };
const time = '2026-01-01T00:00:00.000Z';
const forgotten = userForgottenPayload({ ...ids, requestId: 'r', completedAt: time });
const revoked = consentRevokedPayload({ ...ids, revokedAt: time, previousVersion: '1.0' });

describe('a payload', () => {
  it.each([forgotten, revoked, pingPayload(time)])(
    'is the same after being parsed and written again: %s',
    (text) => {
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    },
  );

  it('is cut to ids and times once it is confirmed, and still holds every required field', () => {
    const subject = { user_id: ids.userId, guild_id: ids.guildId };
    expect(JSON.parse(confirmedPayload(forgotten))).toEqual({
      event: 'user_forgotten',
      request_id: 'r',
      ...subject,
      completed_at: time,
    });
    expect(JSON.parse(confirmedPayload(revoked))).toEqual({
      event: 'consent_revoked',
      ...subject,
      revoked_at: time,
    });
  });
});
