import { createReadStream, renameSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { INestApplicationContext } from '@nestjs/common';
import { presentMasterKeys } from '@app/crypto';
import { databaseEngine, keysPath, opened, requireFilled, requireUnused } from '@app/database';
import { ErasureLedger } from '@app/gdpr';
import { many, StartError } from '@app/kernel';
import { backUpSqlite, folderAside, sweepAside, syncDirectory } from '@app/operations';
import { schemaSource } from '../../../ormconfig';
import { inContext, noKeys } from './admin.context';
import { record } from './backup.commands';
import type { Command, Given, Surroundings } from './command-line';

const exported: Command = {
  name: 'ledger:export',
  rows: true,
  summary: 'Writes the ledger of all erasures, a line of JSON for each; keep it apart from the backups',
  flags: {
    out: { type: 'string', value: 'FILE', description: 'A new file; without it standard output' },
  },
  run: async (given, surroundings) => {
    const madeAt = new Date().toISOString();
    const out = given['out'] === undefined ? undefined : String(given['out']);
    await besideTheService(surroundings, async (nest) => {
      let erasures = 0;
      const pieces = nest.get(ErasureLedger).pieces(() => (erasures += 1));
      if (out === undefined) for await (const piece of pieces) await surroundings.data(piece);
      else await intoFile(out, pieces);
      if (out !== undefined) await surroundings.result({ file: out, erasures });
      surroundings.tell(`${many(erasures, 'erasure was', 'erasures were')} written.`);
    });
    if (surroundings.config.database.engine === 'postgres') return;
    const directory = out === undefined ? {} : { directory: dirname(resolve(out)) };
    await record(surroundings, { ledger: { made_at: madeAt, ...directory } });
  },
};

const imported: Command = {
  name: 'ledger:import',
  summary: 'Merges a ledger after a restore of a backup; the next start erases its users again',
  flags: {
    in: {
      type: 'string',
      value: 'FILE',
      description: 'The file that ledger:export has written',
      required: true,
    },
  },
  run: merged,
};

export const LEDGER_COMMANDS: readonly Command[] = [exported, imported];

/**
 * It changes nothing. On SQLite it reads a copy of the keys, which hold the ledger, so that the service keeps running. Each run has a copy of its
 * own, and removes what killed ones have left.
 */
async function besideTheService(
  surroundings: Surroundings,
  work: (nest: INestApplicationContext) => Promise<void>,
): Promise<void> {
  const { config } = surroundings;
  const { database } = config;
  if (database.engine === 'postgres') return inContext(surroundings, work, 'read');
  sweepAside(database.path, 'ledger');
  // Before a folder is made where none is.
  requireFilled(keysPath(resolve(database.path)));
  const { folder, remove } = folderAside(database.path, 'ledger');
  try {
    const directory = join(folder, 'copy');
    await backUpSqlite(database.path, directory, ['keys'], new Date().toISOString());
    const copy = { engine: 'sqlite', path: join(directory, 'data.db') } as const;
    renameSync(join(directory, 'keys.db'), keysPath(copy.path));
    // The key file is beside the database and not beside the copy.
    const keys = presentMasterKeys(config);
    if (keys === undefined) throw noKeys(config);
    const onCopy = { ...surroundings, config: { ...config, database: copy, masterKeys: keys } };
    await inContext(onCopy, work, 'keys');
  } finally {
    remove();
  }
}

async function merged(given: Given, surroundings: Surroundings): Promise<void> {
  const path = String(given['in']);
  const file = await open(path).catch((error: NodeJS.ErrnoException): FileHandle => {
    throw new StartError(`${path} cannot be read (${error.code}).`);
  });
  const isFile = (await file.stat()).isFile();
  await file.close();
  if (!isFile) throw new StartError(`${path} is not a file.`);
  const { config } = surroundings;
  // Only a start erases again. A SQLite file is locked already.
  if (config.database.engine === 'postgres')
    await opened(schemaSource(config), (source) => requireUnused(source, databaseEngine(config).place));
  await inContext(surroundings, async (nest) => {
    const { added, known, tooOld, ofData, destroyedKeys } = await nest
      .get(ErasureLedger)
      .merge(() => createInterface({ input: createReadStream(path), crlfDelay: Infinity }));
    await surroundings.result({
      added,
      known,
      too_old: tooOld,
      of_data: ofData,
      destroyed_keys: destroyedKeys,
    });
    surroundings.tell(
      `${many(added, 'erasure was', 'erasures were')} added, ${many(known, 'was', 'were')} known, ${many(tooOld, 'is', 'are')} too old to count; ` +
        `${many(destroyedKeys, 'restored key was', 'restored keys were')} destroyed. ` +
        'Start the service now: before it answers, it erases again the users of the ledger that are in the data.',
    );
    if (ofData > 0)
      surroundings.tell(
        `${many(ofData, 'further erasure was', 'further erasures were')} in the data in place alone, and ${ofData === 1 ? 'is' : 'are'} in the ledger now.`,
      );
    if (tooOld > 0)
      surroundings.tell(
        `The users of the ${many(tooOld, 'entry that is', 'entries that are')} too old are not erased again: if the data has them, they are back. Restore a newer backup, or have the bots erase them again.`,
      );
  });
}

/** Writes a new file, readable by its owner only and flushed to the disk with its entry in the directory. One that is cut is removed. */
async function intoFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException): FileHandle => {
    throw new StartError(
      error.code === 'EEXIST'
        ? `${path} exists already: name a new file.`
        : `${path} cannot be written (${error.code}).`,
    );
  });
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
    await syncDirectory(dirname(resolve(path)));
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}
