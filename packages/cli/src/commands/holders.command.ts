import type { Command } from 'commander';
import { readText } from '../env-file';
import { refused } from '../failures';
import { type HolderDeclaration, holdersIn } from '../holder-declarations';
import { inTurn } from '../in-turn';
import { many } from '../output';
import { moment, PATIENT, positive, Session } from '../session';
import { isCovered, userColumnsIn } from '../sql-schema';

const DEFAULT_FILE = 'lethe.yaml';

interface TasksOptions {
  readonly since?: string;
  readonly limit: number;
}

interface CheckOptions {
  readonly schema: string;
  readonly except?: readonly string[];
}

export function addHolders(program: Command): void {
  const holders = program
    .command('holders')
    .description('The stores of the bot itself, which erasures and exports reach too.');
  holders
    .command('list')
    .description('Lists the holders with their open tasks.')
    .action((_options: object, command: Command) => list(new Session(command)));
  holders
    .command('tasks')
    .description('Lists the open tasks of a holder, oldest first.')
    .argument('<key>', 'the holder')
    .option('--since <time>', 'also those that were answered since then (ISO 8601 with zone)', moment)
    .option('--limit <number>', 'at most so many', positive, 20)
    .action((key: string, options: TasksOptions, command: Command) =>
      tasks(new Session(command), key, options),
    );
  holders
    .command('push')
    .description('Declares the holders of the section `holders` of the file. None is deleted.')
    .argument('[file]', 'the file', DEFAULT_FILE)
    .action((file: string, _options: object, command: Command) => push(new Session(command), file));
  holders
    .command('check')
    .description(
      'Fails for a table with a column of users that no holder of the file covers. It calls no service.',
    )
    .argument('[file]', 'the file', DEFAULT_FILE)
    .requiredOption('--schema <file>', 'the SQL schema of the bot: CREATE TABLE …')
    .option('--except <tables...>', 'tables that are not about users')
    .action((file: string, options: CheckOptions, command: Command) =>
      check(new Session(command), file, options),
    );
}

async function list(session: Session): Promise<void> {
  const found = await session.client().holders.list().toArray();
  const { output } = session;
  const headings = ['KEY', 'COVERS', 'SIGNS', 'OPEN', 'OLDEST'];
  const rows = found.map((one) => [
    ...[one.key, one.covers.join(', '), one.public_key === null ? 'no' : 'yes'],
    ...[one.open_tasks, one.oldest_open_at],
  ]);
  output.result(found, found.length === 0 ? 'The bot has no holders.' : output.table(headings, rows));
}

async function tasks(session: Session, key: string, { since, limit }: TasksOptions): Promise<void> {
  const found = [];
  for await (const task of session.client().holders.tasks({ key, ...(since !== undefined && { since }) })) {
    found.push(task);
    if (found.length === limit) break;
  }
  const { output } = session;
  const headings = ['TASK', 'ACT', 'USER', 'GUILD', 'CREATED', 'DUE', 'RESULT'];
  const rows = found.map((one) => [
    ...[one.task_id, one.act, one.user_id, one.guild_id, one.created_at, one.due_at, one.result],
  ]);
  output.result(found, found.length === 0 ? 'There are no such tasks.' : output.table(headings, rows));
}

async function push(session: Session, file: string): Promise<void> {
  const wanted = holdersIn(file);
  const { holders } = session.client(PATIENT);
  const there = new Map((await holders.list().toArray()).map((one) => [one.key, one]));
  const done = { registered: [] as string[], changed: [] as string[] };
  const acts = wanted.flatMap((one) => {
    const [before, given] = [there.get(one.key), { ...one, covers: [...one.covers] }];
    if (before !== undefined && !isOther(before, one)) return [];
    done[before === undefined ? 'registered' : 'changed'].push(one.key);
    // A key that the file does not name belongs to the bot that signs with it.
    const act = () =>
      before === undefined ? holders.register({ kind: 'pull', ...given }) : holders.change(given);
    return [[`holder ${one.key}`, act] as const];
  });
  await inTurn(session, acts);
  const kept = [...there.keys()].filter((key) => !wanted.some((one) => one.key === key));
  if (kept.length > 0) session.output.note(`Not in ${file}, and kept: ${kept.join(', ')}.`);
  session.output.result(
    { ...done, kept },
    `Registered ${many(done.registered.length, 'holder')}, changed ${done.changed.length}.`,
  );
}

type There = Omit<HolderDeclaration, 'public_key'> & { readonly public_key: string | null };

const isOther = (there: There, { public_key: key, ...wanted }: HolderDeclaration): boolean =>
  there.label_de !== wanted.label_de ||
  there.label_en !== wanted.label_en ||
  JSON.stringify([...there.covers].sort()) !== JSON.stringify([...wanted.covers].sort()) ||
  (key !== undefined && there.public_key !== key);

async function check(
  { output }: Session,
  file: string,
  { schema, except = [] }: CheckOptions,
): Promise<void> {
  const covers = holdersIn(file).flatMap((one) => one.covers);
  const found = userColumnsIn(readText(schema)).filter(({ table }) => !isCovered(table, except));
  const missing = found.filter(({ table }) => !isCovered(table, covers));
  const tables = new Set(found.map(({ table }) => table)).size;
  if (missing.length > 0) {
    for (const { table, column } of missing) output.note(`${table}.${column}: no holder covers ${table}.`);
    throw refused(
      `No holder covers ${[...new Set(missing.map(({ table }) => table))].join(', ')}.`,
      `Add the table to covers in ${file} and to the stores of the bot, or give --except where it is about no user.`,
    );
  }
  output.result({ tables, missing: [] }, `${many(tables, 'table')} about users, each covered by a holder.`);
}
