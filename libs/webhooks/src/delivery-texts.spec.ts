import type { InstallationKeys, Subject, SubjectKeys } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Digest } from '@app/crypto';
import { DeliveryTexts } from './delivery-texts';

const key = (name: string) => ({ encrypt: () => name });
const keys = {
  forWriting: () => Promise.resolve(key('subject key')),
  inForce: () => Promise.resolve(key('subject key')),
} as unknown as SubjectKeys;
const texts = new DeliveryTexts(keys, {
  installation: key('installation key'),
} as unknown as InstallationKeys);
const subject: Subject = { botId: 'bot', guildId: 'guild' as Digest, userId: 'user' as Digest };
const tx = {} as Tx;

describe('the text of a webhook call about a subject', () => {
  it.each([
    [undefined, 'subject key'],
    [null, 'subject key'],
    ['the id of an erasure', 'installation key'],
  ])('ends with the subject, unless it is about its erasure: %s', async (requestId, expected) => {
    const given = { botId: 'bot', requestId, subject };
    expect(await texts.encrypt(tx, given, 'id', '{}')).toBe(expected);
    expect(await texts.reencrypt(tx, given, 'id', '{}')).toBe(expected);
  });
});
