import { ApiError } from '@app/kernel';
import fc from '../../../test/support/fast-check';
import { atDepth, itInPart } from '../../../test/support/depth';
import { translateFault } from './database-faults';
import { SharedCalls } from './shared-calls';
import type { Tx } from './tx';
import type { SharedWork } from './unit-of-work';

// The answer to a call is independent of the other calls in its transaction and of their failures.

interface Input {
  readonly id: number;
  readonly row: number;
  /**
   * `bad`: refused by its own fault; `shy`: left for a transaction of its own; `wreck`: fails the whole transaction.
   */
  readonly kind: 'good' | 'bad' | 'shy' | 'wreck';
}

/** The codes of faults that one row of several may cause. */
const FAULTS = { slow: '55P03', damaged: 'SQLITE_IOERR_READ', unread: '58030' };

/** Transactions on a list. A transaction whose work fails is undone; chosen ones fail at the commit. */
class Ledger {
  readonly committed: Input[] = [];
  begun = 0;

  constructor(
    private readonly failsAt: (nth: number) => keyof typeof FAULTS | 'unavailable' | 'broken' | undefined,
  ) {}

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const nth = this.begun++;
    const written: Input[] = [];
    const value = await work(written as unknown as Tx);
    await new Promise((resolve) => setImmediate(resolve));
    const failure = this.failsAt(nth);
    if (failure === 'unavailable') throw new ApiError('service_unavailable', 'not now');
    if (failure === 'broken') throw new Error('broken');
    if (failure !== undefined)
      throw translateFault(Object.assign(new Error(failure), { code: FAULTS[failure] }));
    this.committed.push(...written);
    return value;
  }
}

const write = (tx: Tx, input: Input): void => void (tx as unknown as Input[]).push(input);

const WORK: SharedWork<Input, number> = async (tx, inputs) => {
  const rows = new Set<number>();
  return inputs.map((input) => {
    if (inputs.length === 1) {
      write(tx, input);
      if (input.kind === 'bad' || input.kind === 'wreck') throw new Error(`refused ${input.id}`);
      return input.id;
    }
    if (input.kind === 'wreck') throw new Error('the whole batch');
    if (input.kind !== 'good' || rows.has(input.row)) return undefined;
    rows.add(input.row);
    write(tx, input);
    return input.id;
  });
};

async function play(inputs: readonly Input[], ledger: Ledger) {
  const calls = new SharedCalls((work) => ledger.write(work));
  const answers = new Map<number, string[]>();
  const record = (id: number, answer: string): unknown =>
    answers.set(id, [...(answers.get(id) ?? []), answer]);
  await Promise.all(
    inputs.map((input) =>
      calls.do(WORK, input).then(
        (id) => record(input.id, `done ${id}`),
        (error: Error) => record(input.id, error.message),
      ),
    ),
  );
  expect(calls.waiting).toBe(0);
  return answers;
}

const inputs = fc
  .array(
    fc.record({
      row: fc.nat({ max: 20 }),
      kind: fc.constantFrom('good', 'good', 'good', 'bad', 'shy', 'wreck'),
    }),
    {
      minLength: 1,
      maxLength: 300,
      size: 'max',
    },
  )
  .map((list) => list.map((each, id): Input => ({ ...each, id })));

describe('calls that share transactions', () => {
  itInPart(
    'are each answered once and truly, whatever shares their transactions and whichever of these fail',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          inputs,
          fc.uniqueArray(fc.nat({ max: 30 })),
          fc.boolean(),
          async (given, failing, broken) => {
            const ledger = new Ledger((nth) =>
              failing.includes(nth) ? (broken ? 'broken' : 'unavailable') : undefined,
            );
            const answers = await play(given, ledger);
            const done = ledger.committed.map(({ id }) => id);
            expect(new Set(done).size).toBe(done.length);
            for (const { id, kind } of given) {
              const own = kind === 'bad' || kind === 'wreck' ? [`refused ${id}`] : [`done ${id}`];
              const [answer, ...more] = answers.get(id) ?? [];
              expect({ id, more }).toStrictEqual({ id, more: [] });
              expect([...own, 'not now', 'broken']).toContain(answer);
              expect({ id, answer: answer === `done ${id}` }).toStrictEqual({
                id,
                answer: done.includes(id),
              });
            }
          },
        ),
        { numRuns: atDepth(40, 100) },
      );
    },
  );

  it('of which one would spoil the batch are done one by one, and only that one is refused', async () => {
    const given = Array.from({ length: 50 }, (_, id): Input => ({
      id,
      row: id,
      kind: id === 7 ? 'wreck' : 'good',
    }));
    const answers = await play(given, new Ledger(() => undefined));
    expect([...answers].filter(([id, [answer]]) => answer !== `done ${id}`)).toStrictEqual([
      [7, ['refused 7']],
    ]);
  });

  it('of one row in one batch are done one after the other', async () => {
    const given = Array.from({ length: 10 }, (_, id): Input => ({ id, row: 0, kind: 'good' }));
    const ledger = new Ledger(() => undefined);
    const answers = await play(given, ledger);
    expect([...answers.values()].flat().sort()).toStrictEqual(given.map(({ id }) => `done ${id}`));
    expect(ledger.begun).toBe(10);
  });

  it('number a thousand at once: all are answered, by few transactions', async () => {
    const given = Array.from({ length: 1_000 }, (_, id): Input => ({ id, row: id, kind: 'good' }));
    const ledger = new Ledger(() => undefined);
    const answers = await play(given, ledger);
    expect([...answers].every(([id, [answer, more]]) => answer === `done ${id}` && more === undefined)).toBe(
      true,
    );
    expect(ledger.begun).toBe(8);
  });

  it.each([
    ['they take too long', 'slow'],
    ['one of them meets damage', 'damaged'],
    ['one of them meets a block that cannot be read', 'unread'],
  ] as const)('are done one by one when together %s', async (_why, fault) => {
    const given = Array.from({ length: 50 }, (_, id): Input => ({ id, row: id, kind: 'good' }));
    const ledger = new Ledger((nth) => (nth === 0 ? fault : undefined));
    const answers = await play(given, ledger);
    expect([...answers].every(([id, [answer]]) => answer === `done ${id}`)).toBe(true);
    expect(ledger.begun).toBe(51);
  });

  it('are not asked for again one by one when the database cannot do it now', async () => {
    const given = Array.from({ length: 50 }, (_, id): Input => ({ id, row: id, kind: 'good' }));
    const ledger = new Ledger(() => 'unavailable');
    const answers = await play(given, ledger);
    expect(new Set([...answers.values()].flat())).toStrictEqual(new Set(['not now']));
    expect(ledger.begun).toBe(1);
  });
});
