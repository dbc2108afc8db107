import type { Digest } from '@app/crypto';
import type { Tx } from '@app/database';
import type { CountedPart } from '@app/http';
import type { DeliveryStatus } from './delivery.entity';
import type { DeliveryEvent } from './webhook-events';

/** Deliveries that one statement looks at; requests are answered in between. */
const LOOKED_AT = 5_000;
/** Greater than every id. */
export const NEWEST = '~';

/** Which deliveries of a bot a list shows. */
export interface Listed {
  readonly botId: string;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: DeliveryEvent | undefined;
  readonly userId?: Digest | undefined;
}

/** How many of some deliveries before the id `before` a list shows, and the id of the last that was looked at; undefined at the end. */
export async function countSome(tx: Tx, listed: Listed, before: string): Promise<CountedPart> {
  const { some, shows, values } = statementOf(listed);
  const found = await tx.get<{ looked: number; shown: number; last: string | null }>(
    `SELECT COUNT(*) AS looked, COUNT(CASE WHEN ${shows} THEN 1 END) AS shown, MIN(id) AS last ${some}`,
    ...[...values.shows, ...values.some, before],
  );
  const isLast = Number(found?.looked ?? 0) < LOOKED_AT;
  return { shown: Number(found?.shown ?? 0), next: isLast ? undefined : (found?.last ?? undefined) };
}

/** The ids of deliveries that a list shows, newest first, among those that {@link countSome} looks at. */
export async function idsOfSome(
  tx: Tx,
  listed: Listed,
  before: string,
  skip: number,
  take: number,
): Promise<string[]> {
  const { some, shows, values } = statementOf(listed);
  const rows = await tx.all<{ id: string }>(
    `SELECT id ${some} WHERE ${shows} ORDER BY id DESC LIMIT ? OFFSET ?`,
    ...[...values.some, before, ...values.shows, take, skip],
  );
  return rows.map(({ id }) => id);
}

/** An index has the order of the ids for the deliveries that are looked at; each is then compared with the other filters. */
function statementOf({ botId, status, event, userId }: Listed) {
  const some = conditionOf({ bot_id: botId, ...(userId === undefined ? { status } : { user_id: userId }) });
  const shows = conditionOf({ status, event });
  return {
    some: `FROM (SELECT id, status, event FROM webhook_deliveries WHERE ${some.sql} AND id < ?
      ORDER BY id DESC LIMIT ${LOOKED_AT}) found`,
    shows: shows.sql,
    values: { some: some.values, shows: shows.values },
  };
}

/** The condition that columns have the values that are given. */
function conditionOf(columns: Readonly<Record<string, string | undefined>>) {
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  return {
    sql: given.length === 0 ? '1 = 1' : given.map(([name]) => `${name} = ?`).join(' AND '),
    values: given.map(([, value = '']) => value),
  };
}
