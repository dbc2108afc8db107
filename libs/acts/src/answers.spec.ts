import type { Engine, Tx } from '@app/database';
import { ConcurrentChange } from '@app/database';
import { conflict } from '@app/kernel';
import type { Digest } from '@app/crypto';
import { Answers } from './answers';
import { Claim, NO_CLAIM } from './claim';

const ROW = { botId: 'bot', id: 'id' as Digest, request: 'request' as Digest };
const NOW = '2026-11-20T00:00:00.000Z';
const clock = { daysAgoIso: () => '2026-11-19T00:00:00.000Z', confirmedIso: () => NOW };
const installation = { id: 'key', encrypt: () => 'text', decrypt: () => '{}' };
const answers = new Answers({} as never, clock as never, { installation } as never);

/** A unit in which a row is stored for the claim, with the statements that it runs. */
function unit(engine: Engine): { readonly tx: Tx; readonly statements: string[] } {
  const statements: string[] = [];
  const run = (sql: string, rows: readonly object[] | number): unknown => {
    statements.push(sql.split(' ')[0] ?? '');
    return rows;
  };
  const row = { request: 'another', answer: 'text', created_at: NOW, place: 1 };
  const tx = {
    engine,
    get: async (sql: string) => (run(sql, []), row),
    all: async (sql: string) => run(sql, [row]),
    run: async (sql: string) => run(sql, 0),
  };
  return { tx: tx as unknown as Tx, statements };
}

describe('the answer to an earlier request', () => {
  it('is looked for with the locks of the act on PostgreSQL', async () => {
    const { tx, statements } = unit('postgres');
    expect((await answers.findFirst(tx, [new Claim(ROW)]))[0]).toBeDefined();
    expect(statements).toStrictEqual(['SELECT']);
  });

  it('costs a new key no statement on SQLite', async () => {
    const { tx, statements } = unit('sqlite');
    expect(await answers.findFirst(tx, [new Claim(ROW), NO_CLAIM])).toStrictEqual([undefined, undefined]);
    expect(statements).toStrictEqual([]);
  });

  it.each([
    [
      'met at the end of the unit',
      (tx: Tx, claim: Claim) =>
        answers.keep(
          tx,
          [claim, NO_CLAIM].map((each) => ({ claim: each, subject: undefined, view: {} })),
        ),
    ],
    [
      'met after a refusal',
      (tx: Tx, claim: Claim) => answers.unlessDone(tx, claim, conflict('category_exists', '')),
    ],
  ])('is found on SQLite when the unit is run again: %s', async (_, meet) => {
    const { tx } = unit('sqlite');
    const claim = new Claim(ROW);
    await expect(meet(tx, claim)).rejects.toBeInstanceOf(ConcurrentChange);
    expect((await answers.findFirst(tx, [claim]))[0]).toBeDefined();
    expect(NO_CLAIM.isRepeat).toBe(false);
  });
});
