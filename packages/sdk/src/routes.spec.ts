import type { Lethe } from './lethe';
import { onTheWire } from './routes';

const who = { user_id: '123456789012345678', guild_id: '223456789012345678' };

/** Its types are checked by `npm run lint`. It is never called. */
export function compiles({ consents, data, privacy, servers, bots, audit }: Lethe): unknown[] {
  const bigint = { user_id: 123456789012345678n, guild_id: '223456789012345678' };
  return [
    consents.status(bigint),
    data.submit({ ...bigint, category: 'profile', data: {} }),
    data.submitMany([{ ...bigint, category: 'profile', data: {} }]),
    // @ts-expect-error an id that is a number
    consents.status({ ...who, user_id: 1 }),
    // @ts-expect-error an id that is a number
    consents.request({ ...who, guild_id: 1, consent_version: '1.0' }),
    // @ts-expect-error an id that is a number
    data.submitMany([{ ...who, user_id: 1, category: 'profile', data: {} }]),
    // @ts-expect-error an id that is a number
    data.export({ ...who, user_id: 1 }),
    // @ts-expect-error an id that is a number
    privacy.forget({ ...who, user_id: 1 }),
    // @ts-expect-error an id that is a number
    servers.register({ guild_id: 1 }),
    // @ts-expect-error an id that is a number
    bots.register({ platform_bot_id: 1, name: 'Greeter' }),
    // @ts-expect-error no type of an event
    audit.write({ ...who, event_type: 'other' }),
    // @ts-expect-error a field that lacks
    data.submit({ ...who, data: {} }),
  ];
}

describe('onTheWire', () => {
  it('writes ids as text, in the items of a batch too, and leaves values alone', () => {
    const data = { user_id: 5, items: [{ guild_id: 7 }] };
    const subject = { user_id: 18446744073709551615n, guild_id: who.guild_id };
    const text = { ...who, user_id: '18446744073709551615' };
    expect(onTheWire({ ...subject, data })).toEqual({ ...text, data });
    expect(onTheWire({ items: [{ ...subject, data }] })).toEqual({ items: [{ ...text, data }] });
  });

  it('refuses an id that is a number, and names it', () => {
    for (const given of [
      { user_id: 1 },
      { guild_id: 1 },
      { platform_bot_id: 1 },
      { items: [{ user_id: 1 }] },
    ])
      expect(() => onTheWire(given)).toThrow(/_id is the number 1, .*Pass ids as a string or a bigint/);
  });
});
