import { ErasureSteps } from './erasure.steps';

const SUBJECT = { botId: 'bot', guildId: 'guild', userId: 'user' };
const IDS = { userId: '1', guildId: '2' };

describe('an erasure that begins with ids from the key', () => {
  const calls: string[] = [];
  /** Answers each call with what is given for it, and notes its order. */
  const noted = (name: string, answers: Readonly<Record<string, unknown>>): never =>
    new Proxy(
      {},
      {
        get: (_, method) => (): unknown => {
          calls.push(`${name}.${String(method)}`);
          return answers[String(method)];
        },
      },
    ) as never;

  const tx = noted('tx', { all: [{ id: 'request' }] });
  const consents = noted('consents', { close: '2026-11-20T00:00:00.000Z' });
  const keys = noted('keys', { idOf: 'key', inForce: { ids: IDS } });
  const [others, erasures] = [noted('others', {}), noted('erasures', { requestOf: { id: 'request' } })];
  const steps = new ErasureSteps(others, consents, others, others, keys, erasures, others);
  const of = (ids: unknown) => ({ id: 'request', subjectCommitment: '', ids }) as never;

  beforeEach(() => calls.splice(0));

  it.each([
    ['beginIfHeld', () => steps.beginIfHeld(tx, SUBJECT as never, of)],
    ['beginAgain', () => steps.beginAgain(tx, SUBJECT as never, 'request', of)],
  ])('reads the key only behind the lock of its subject: %s', async (_, begin) => {
    await begin();
    const read = calls.findIndex((call) => call.startsWith('keys.'));
    expect(calls.indexOf('consents.lock')).toBeGreaterThanOrEqual(0);
    expect(calls.indexOf('consents.lock')).toBeLessThan(read);
    expect(calls).toContain('keys.inForce');
  });
});
