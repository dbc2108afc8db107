import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '@app/kernel';
import { keysPath } from './key-tables';
import type { UnitOfWork } from './unit-of-work';

/** The bytes of a database: of both SQLite files with their logs, or what PostgreSQL reports. */
export async function databaseBytes(
  unitOfWork: UnitOfWork,
  { database }: Pick<Config, 'database'>,
): Promise<number> {
  if (database.engine === 'sqlite') return fileBytes(database.path);
  const row = await unitOfWork.snapshot((tx) =>
    tx.get<{ bytes: number | string }>('SELECT pg_database_size(current_database()) AS bytes'),
  );
  return Number(row?.bytes ?? 0);
}

function fileBytes(path: string): number {
  const files = [resolve(path), keysPath(resolve(path))].flatMap((file) => [file, `${file}-wal`]);
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}
