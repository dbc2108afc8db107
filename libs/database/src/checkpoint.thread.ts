import { parentPort, workerData } from 'node:worker_threads';
import { OPENING_MS, SqliteDatabase } from './sqlite.driver';

/** The answer of the thread: the pages of the write-ahead log, or the code of the fault. */
export type Checkpointed = { readonly pages: number } | { readonly fault: string };

const database = new SqliteDatabase(workerData as string, { fileMustExist: true, timeout: OPENING_MS });
database.pragma('synchronous = FULL');
database.pragma('busy_timeout = 0');

function checkpoint(): Checkpointed {
  try {
    const [result] = database.pragma('wal_checkpoint(PASSIVE)') as { log: number }[];
    return { pages: result?.log ?? 0 };
  } catch (error) {
    return { fault: String((error as { code?: unknown }).code) };
  }
}

parentPort?.on('message', () => parentPort?.postMessage(checkpoint()));
