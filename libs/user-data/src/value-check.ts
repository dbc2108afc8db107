import { isDestroyed, keyOf, type JoinedKey, type SubjectKeys } from '@app/crypto';
import { eachOf, type Tx, type UnitOfWork } from '@app/database';
import { type Digest, encryptedBy, UnreadableSecretError } from '@app/primitives';
import { subjectAt } from '@app/subjects';
import { openValue } from './stored-value';

/** Values of one read. */
const BATCH = 200;

type Row = JoinedKey &
  Readonly<Record<'bot_id' | 'category_key' | 'value', string>> &
  Readonly<Record<'guild_id' | 'user_id', Digest>>;

const KEY = keyOf('held');
const PLACE = 'held.bot_id, held.guild_id, held.user_id, held.category_key';
const SELECT = `SELECT ${PLACE}, held.value, ${KEY.columns} FROM user_data held ${KEY.join}`;

/** The result of {@link checkValues}. `erased` values have a key that the ledger lists as destroyed. */
export interface CheckedValues {
  readonly values: number;
  readonly unreadable: number;
  readonly erased: number;
}

/** Decrypts every stored value and keeps nothing of it. */
export async function checkValues(unitOfWork: UnitOfWork, keys: SubjectKeys): Promise<CheckedValues> {
  const checked = { values: 0, unreadable: 0, erased: 0 };
  for await (const row of eachOf<Row>(BATCH, (after) => unitOfWork.read((tx) => page(tx, after)))) {
    checked.values += 1;
    if (isReadable(keys, row)) continue;
    const keyId = encryptedBy(row.value);
    const isErased =
      keyId !== undefined && (await unitOfWork.read((tx) => isDestroyed(tx, row.bot_id, keyId)));
    checked[isErased ? 'erased' : 'unreadable'] += 1;
  }
  return checked;
}

function page(tx: Tx, after: Row | undefined): Promise<Row[]> {
  const behind = after === undefined ? '' : `WHERE (${PLACE}) > (?, ?, ?, ?)`;
  const from = after === undefined ? [] : [after.bot_id, after.guild_id, after.user_id, after.category_key];
  return tx.all<Row>(`${SELECT} ${behind} ORDER BY ${PLACE} LIMIT ${BATCH}`, ...from);
}

function isReadable(keys: SubjectKeys, row: Row): boolean {
  const subject = subjectAt(row.bot_id, row);
  try {
    openValue(keys.openJoined(subject, row), subject, row.category_key, row.value);
    return true;
  } catch (error) {
    if (error instanceof UnreadableSecretError) return false;
    throw error;
  }
}
