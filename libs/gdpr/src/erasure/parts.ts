import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SqlPart, Tx, UnitOfWork } from '@app/database';

/** Rows that one statement looks at: all of millions would take longer than a statement may. */
const LOOKED_AT = 5_000;

/** Where a walk over a table is: behind this bot and id. */
export type Place = readonly [botId: string, id: string];

export const BEGINNING: Place = ['', ''];

/** What was found in a part of a table, and the places before and behind it; no `end` for the last part. */
export interface Part<Row> {
  readonly before: Place;
  readonly end: Place | undefined;
  readonly found: readonly Row[];
}

/** The parts of a table behind a place, in the order of its bots and ids. `find` gets each as what a statement reads `FROM`. */
export async function* inParts<Row>(
  unitOfWork: UnitOfWork,
  { table, id, before }: { readonly table: string; readonly id: string; readonly before: Place },
  find: (tx: Tx, part: SqlPart) => Promise<readonly Row[]>,
): AsyncGenerator<Part<Row>, void, undefined> {
  const behind = `FROM ${table} WHERE (bot_id, ${id}) > (?, ?) ORDER BY bot_id, ${id} LIMIT`;
  for (let place: Place | undefined = before; place !== undefined;) {
    const from: Place = place;
    const part: Part<Row> = await unitOfWork.read(async (tx) => {
      const last = await tx.get<Record<'bot_id' | 'id', string>>(
        `SELECT bot_id, ${id} AS id ${behind} 1 OFFSET ${LOOKED_AT - 1}`,
        ...from,
      );
      // The limit says to PostgreSQL how few rows it joins.
      const found = await find(tx, { sql: `(SELECT * ${behind} ${LOOKED_AT})`, values: from });
      return { before: from, end: last && [last.bot_id, last.id], found };
    });
    yield part;
    // On SQLite no request is served within a look.
    await nextTurn();
    place = part.end;
  }
}
