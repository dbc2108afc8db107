import type { Digest } from '@app/crypto';
import { confirmedPayload, DELIVERY_EVENTS, type DeliveryEvent, outgoing, payloadOf } from './webhook-events';

const ids = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const subject = { botId: 'b', guildId: 'g' as Digest, userId: 'u' as Digest, ids };
const time = '2026-01-01T00:00:00.000Z';
const [erase, question] = (['erase', 'export'] as const).map(
  (act) => ({ subject, holderKey: 'h', act, taskId: 't', createdAt: time, dueAt: time }) as const,
) as [Task, Task];
type Task = Parameters<typeof payloadOf<'holder_task'>>[1];

const forgotten = { subject, requestId: 'r', completedAt: time };
const revoked = { subject, revokedAt: time, previousVersion: '1.0' };
const corrected = { subject, category: 'c', fields: ['f'], at: time };

const USER = `"user_id":"${ids.user_id}","guild_id":"${ids.guild_id}"`;
const TASK = (act: string) =>
  `"holder":"h","task_id":"t","act":"${act}","request_id":"t",${USER},"created_at":"${time}","due_at":"${time}"`;
const NOTICE =
  '"Only data stored through this service was erased. Delete whatever your bot holds of this user elsewhere."';

/** Each payload, its bytes in the part that is kept, and those of the part that is dropped. Stored rows have them. */
const PAYLOADS: readonly [event: DeliveryEvent, payload: string, kept: string, dropped: string][] = [
  [
    'user_forgotten',
    payloadOf('user_forgotten', forgotten),
    `"request_id":"r",${USER},"completed_at":"${time}"`,
    `,"notice":${NOTICE}`,
  ],
  [
    'consent_revoked',
    payloadOf('consent_revoked', revoked),
    `${USER},"revoked_at":"${time}"`,
    ',"previous_version":"1.0"',
  ],
  [
    'data_corrected',
    payloadOf('data_corrected', corrected),
    `${USER},"category":"c","fields":["f"],"at":"${time}"`,
    '',
  ],
  ['holder_task', payloadOf('holder_task', erase), TASK('erase'), ''],
  ['holder_task', payloadOf('holder_task', question), TASK('export'), ''],
  ['ping', payloadOf('ping', { sentAt: time }), `"sent_at":"${time}"`, ''],
];

describe('a payload', () => {
  it.each(PAYLOADS)(
    'of %s has the same bytes as ever, also after being parsed and written again',
    (...given) => {
      const [event, payload, kept, dropped] = given;
      expect(payload).toBe(`{"event":"${event}",${kept}${dropped}}`);
      expect(JSON.stringify(JSON.parse(payload))).toBe(payload);
    },
  );

  it.each(PAYLOADS)(
    'of %s keeps every field once it is confirmed but those its event drops by name',
    (...given) => {
      const [event, payload, kept] = given;
      const confirmed = confirmedPayload(event, payload);
      expect(confirmed).toBe(`{"event":"${event}",${kept}}`);
      expect(confirmedPayload(event, confirmed)).toBe(confirmed);
    },
  );

  it('is listed here for each event', () => {
    expect([...new Set(PAYLOADS.map(([event]) => event))].toSorted()).toEqual(DELIVERY_EVENTS.toSorted());
  });

  it('keeps once it is confirmed what only a newer version knows, with its own fields', () => {
    const field = `{"event":"ping","sent_at":"${time}","more":{"notice":[{"at":1}]}}`;
    expect(confirmedPayload('ping', field)).toBe(field);
    const event = `{"event":"later","notice":"n"}`;
    for (const name of ['later', 'constructor']) expect(confirmedPayload(name, event)).toBe(event);
  });

  it('names the erasure whose call outlives the key of its subject', () => {
    const of = [
      ...[outgoing('user_forgotten', forgotten), outgoing('consent_revoked', revoked)],
      ...[
        outgoing('data_corrected', corrected),
        outgoing('holder_task', erase),
        outgoing('holder_task', question),
      ],
    ];
    expect(of.map(({ requestId }) => requestId)).toEqual(['r', undefined, undefined, 't', undefined]);
  });
});
