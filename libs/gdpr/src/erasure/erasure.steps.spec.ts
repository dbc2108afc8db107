import type { DeletionRequest } from './deletion-request.entity';
import { ErasureSteps } from './erasure.steps';

const SUBJECT = { botId: 'bot', guildId: 'guild', userId: 'user' };
const IDS = { guild_id: '2', user_id: '1' };
const calls: string[] = [];

/** Returns for each call what is given for its name, and notes the order of the calls. */
function noted(name: string, results: Readonly<Record<string, unknown>> = {}): never {
  const get = (_: unknown, method: string | symbol) => (): unknown => {
    calls.push(`${name}.${String(method)}`);
    return results[String(method)];
  };
  return new Proxy({}, { get }) as never;
}

const consents = noted('consents', { close: '2026-11-20T00:00:00.000Z' });
const holders = noted('holders', { count: [{ user_data: 1 }], erase: [['profile']] });
const keys = noted('keys', { idOf: 'key', idsOf: IDS, destroy: ['key'] });
const records = noted('records', { requestOf: { id: 'request' }, namedOf: { ...SUBJECT, ids: IDS } });
const clock = noted('clock', { nowIso: '2026-11-20T00:00:01.000Z' });
const steps = new ErasureSteps(holders, consents, noted('audit'), noted('events'), keys, records, clock);

beforeEach(() => calls.splice(0));

describe('an erasure that begins with ids from the key', () => {
  const tx = noted('tx', { all: [{ id: 'request' }] });
  const erasure = { id: 'request', subject: SUBJECT, certificateSalt: '', via: undefined } as never;

  it.each([
    ['beginIfHeld', () => steps.beginIfHeld(tx, erasure)],
    ['beginAgain', () => steps.beginAgain(tx, erasure)],
  ])('reads the key only after the lock of its subject: %s', async (_, begin) => {
    await begin();
    const read = calls.findIndex((call) => call.startsWith('keys.'));
    expect(calls.indexOf('consents.lock')).toBeGreaterThanOrEqual(0);
    expect(calls.indexOf('consents.lock')).toBeLessThan(read);
    expect(calls).toContain('keys.idsOf');
  });
});

describe('a step', () => {
  const found = (status: string, isRemoved: boolean) => ({
    ...{ ...SUBJECT, id: 'request', status, via: null, keyId: null, webhookSent: 0 },
    ...{ deletedCategories: isRemoved ? '[]' : null, erasedRows: isRemoved ? '{}' : null },
  });
  const PROCESSING = found('processing', false);
  const REMOVED = found('processing', true);
  const COMPLETED = found('completed', true);
  const FAILED = found('failed', false);

  const EFFECTS = /^(holders\.erase|keys\.destroy|consents\.(close|reopen)|audit\.\w+)$/;
  const ERASES = ['holders.erase', 'keys.destroy'];

  it.each([
    ['complete', 'erases and completes', PROCESSING, 'completed', true, [...ERASES, 'audit.recordErased']],
    [
      'complete',
      'opens what an earlier unit has closed',
      REMOVED,
      'completed',
      true,
      ['consents.reopen', 'audit.recordErased'],
    ],
    ['complete', 'leaves one that was completed', COMPLETED, 'completed', true, []],
    ['complete', 'leaves one that has failed', FAILED, 'failed', false, []],
    ['complete', 'knows none of a deleted bot', undefined, undefined, false, []],
    ['close', 'erases and closes', PROCESSING, 'processing', true, [...ERASES, 'consents.close']],
    ['close', 'closes again, and erases nothing twice', REMOVED, 'processing', true, ['consents.close']],
    ['close', 'leaves one that was completed', COMPLETED, 'completed', true, []],
    ['close', 'knows none of a deleted bot', undefined, undefined, false, []],
    ['fail', 'opens the subject', PROCESSING, 'failed', false, ['consents.reopen', 'audit.recordAll']],
    ['fail', 'leaves one whose rows are removed to the recovery', REMOVED, 'processing', true, []],
    ['fail', 'leaves one that was completed', COMPLETED, 'completed', true, []],
    ['fail', 'leaves one that has failed', FAILED, 'failed', false, []],
    ['fail', 'knows none of a deleted bot', undefined, undefined, false, []],
  ] as const)('%s: %s', async (step, _, row, status, isRemoved, effects) => {
    const tx = {
      all: async (sql: string) => (sql.includes('FROM deletion_requests') && row !== undefined ? [row] : []),
      run: async () => 1,
      afterCommit: () => undefined,
    } as never;
    const given = { ...SUBJECT, id: 'request' } as DeletionRequest;
    const request =
      step === 'fail'
        ? await steps.fail(tx, given)
        : (await steps[step](tx, await steps.remove(tx, [given])))[0]?.request;
    expect(request?.status).toBe(status);
    expect((request?.deletedCategories ?? null) !== null).toBe(isRemoved);
    expect(calls.filter((call) => EFFECTS.test(call))).toStrictEqual(effects);
  });
});
