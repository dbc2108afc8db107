import { isDeleted } from '@app/bots';
import {
  type Digest,
  encryptedBy,
  ifReadable,
  isDestroyed,
  keysDestroyedUntil,
  type JoinedKey,
  type Subject,
  subjectAt,
  type SubjectKey,
  subjectKeyJoin,
  type SubjectKeys,
  subjectName,
  UnreadableSecretError,
} from '@app/crypto';
import { eachOf, type UnitOfWork } from '@app/database';

/** Encrypts the values of one category, as JSON text, with the subject key. */
export function encryptValue(key: SubjectKey, subject: Subject, category: string, json: string): string {
  return key.encrypt(json, contextOfValue(subject, category));
}

/**
 * The JSON text.
 * @throws UnreadableSecretError for a value that was changed, is not encrypted, or has another key than its subject
 */
export function decryptValue(
  key: SubjectKey | undefined,
  subject: Subject,
  category: string,
  stored: string,
): string {
  if (key === undefined) throw new UnreadableSecretError();
  return key.decrypt(stored, contextOfValue(subject, category));
}

/** {@link decryptValue}; undefined for a value that cannot be decrypted. */
export function readValue(...value: Parameters<typeof decryptValue>): string | undefined {
  return ifReadable(() => decryptValue(...value));
}

function contextOfValue(subject: Subject, category: string): string {
  return `user_data/${subjectName(subject)}/${category}`;
}

/** Values of one read. */
const BATCH = 200;

type Row = JoinedKey &
  Readonly<Record<'bot_id' | 'category_key' | 'value' | 'updated_at', string>> &
  Readonly<Record<'guild_id' | 'user_id', Digest>>;

const KEY = subjectKeyJoin('held');
const PLACE = 'held.bot_id, held.guild_id, held.user_id, held.category_key';

/** Decrypts every stored value and keeps nothing of it. `erased` values have a key that was destroyed by an erasure, or with its bot. */
export async function checkValues(
  unitOfWork: UnitOfWork,
  keys: SubjectKeys,
): Promise<{ readonly values: number; readonly unreadable: number; readonly erased: number }> {
  const checked = { values: 0, unreadable: 0, erased: 0 };
  const sql = `SELECT ${PLACE}, held.value, held.updated_at, ${KEY.columns} FROM user_data held ${KEY.join}
    WHERE (${PLACE}) > (?, ?, ?, ?) ORDER BY ${PLACE} LIMIT ${BATCH}`;
  const page = (after?: Row): Promise<Row[]> => {
    const { bot_id = '', guild_id = '', user_id = '', category_key = '' } = after ?? {};
    return unitOfWork.read((tx) => tx.all(sql, bot_id, guild_id, user_id, category_key));
  };
  for await (const row of eachOf(BATCH, page)) {
    checked.values += 1;
    const subject = subjectAt(row.bot_id, row);
    const key = keys.openJoined(subject, row);
    if (readValue(key, subject, row.category_key, row.value) !== undefined) continue;
    const keyId = encryptedBy(row.value);
    const isErased =
      keyId !== undefined &&
      (await unitOfWork.read(
        async (tx) =>
          (await isDestroyed(tx, row.bot_id, keyId)) ||
          row.updated_at <= (await keysDestroyedUntil(tx, row.bot_id)) ||
          (await isDeleted(tx, row.bot_id)),
      ));
    checked[isErased ? 'erased' : 'unreadable'] += 1;
  }
  return checked;
}
