import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { useServiceInProcess } from '../support/service';

const service = useServiceInProcess();

const QUESTION = `SELECT place, found FROM (SELECT 'a' AS name, '2' AS found, 2 AS place
  UNION ALL SELECT 'a', '1', 1 UNION ALL SELECT 'b', '3', 1) AS named WHERE name = ? AND found <> ? ORDER BY place`;

describe('a question for many keys', () => {
  const unitOfWork = () => service.app.get(UnitOfWork);
  const each = (tx: Tx, ...asked: string[][]) => tx.each<{ found: string; place: number }>(QUESTION, asked);
  const read = (...asked: string[][]) => unitOfWork().read((tx) => each(tx, ...asked));

  const [ONE, TWO, THREE] = [
    { found: '1', place: 1 },
    { found: '2', place: 2 },
    { found: '3', place: 1 },
  ];

  it('finds the rows of each in their order, also of a key without any and of one that is asked for twice', async () => {
    const found = await read(['a', ''], ['x', ''], ['b', ''], ['a', '2'], ['a', '']);
    expect(found).toEqual([[ONE, TWO], [], [THREE], [ONE], [ONE, TWO]]);
  });

  it('finds nothing for no key, and for one what it finds without others', async () => {
    expect(await read()).toEqual([]);
    expect(await read(['a', ''])).toEqual([[ONE, TWO]]);
    expect(await read(['x', ''])).toEqual([[]]);
  });

  it('finds the same while a document is read in portions', async () => {
    const found: unknown[] = [];
    for await (const [portion] of inPortions(unitOfWork(), async function* (tx) {
      yield JSON.stringify(await each(tx, ['b', ''], ['x', ''], ['a', '1']));
    }))
      found.push(JSON.parse(portion ?? ''));
    expect(found).toEqual([[[THREE], [], [TWO]]]);
  });
});
