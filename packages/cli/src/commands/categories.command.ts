import type { Command } from 'commander';
import { TYPES_HEAD, typesOf } from '../category-types';
import {
  changeOf,
  declarationsIn,
  type Declarations,
  declarationsOf,
  fileOf,
  inOneLanguage,
  requireCategories,
  textKey,
  textOf,
} from '../declarations';
import { replaceFile, textAt } from '../env-file';
import { refused } from '../failures';
import { withHolders } from '../holder-declarations';
import { inTurn } from '../in-turn';
import { diffOf } from '../line-diff';
import { many } from '../output';
import { PATIENT, Session } from '../session';

const DEFAULT_FILE = 'lethe.yaml';

interface Answers {
  readonly yes?: boolean;
  readonly prune?: boolean;
}

export function addCategories(program: Command): void {
  const categories = program
    .command('categories')
    .description('What the bot stores and the words with which it asks, as a file in its repository.');
  categories
    .command('pull')
    .description('Writes the categories and consent texts of the service into a YAML file.')
    .argument('[file]', 'the file', DEFAULT_FILE)
    .option('--yes', 'replace a file that differs')
    .action((file: string, options: Answers, command: Command) => pull(new Session(command), file, options));
  categories
    .command('push')
    .description('Shows how the file differs from the service, asks, and brings the changes there.')
    .argument('[file]', 'the file', DEFAULT_FILE)
    .option('--yes', 'do not ask')
    .option('--prune', 'delete categories that are not in the file, with all their values')
    .action((file: string, options: Answers, command: Command) => push(new Session(command), file, options));
  categories
    .command('types')
    .description('Writes TypeScript types of the categories, for new Lethe<Categories>(…) of @lethe/sdk.')
    .option('--output <file>', 'a file, in place of the output')
    .action(({ output: file }: { output?: string }, command: Command) => types(new Session(command), file));
}

async function types(session: Session, file: string | undefined): Promise<void> {
  const { categories } = await declarationsOf(session.client());
  const text = typesOf(categories);
  if (file === undefined) return session.output.result({ types: text }, text.trimEnd());
  if (!(textAt(file) ?? TYPES_HEAD).startsWith(TYPES_HEAD))
    throw refused(`${file} was not written by this command.`, 'It was not changed. Name another file.');
  replaceFile(file, text);
  return session.output.result(
    { file, categories: categories.length },
    `${file}: ${many(categories.length, 'category', 'categories')}.`,
  );
}

async function pull(session: Session, file: string, { yes }: Answers): Promise<void> {
  const { output } = session;
  const found = await declarationsOf(session.client());
  const there = textAt(file);
  // Holders are declared in the file alone.
  const text = withHolders(fileOf(found), file, there ?? '');
  const before = there ?? text;
  if (before !== text && !yes) {
    showDiff(session, before, text);
    const answer = await output.ask(`Replace ${file}? [y/N] `, '--yes');
    if (!/^y(es)?$/i.test(answer)) throw refused('Not confirmed.', `${file} was not changed.`);
  }
  replaceFile(file, text);
  const [categories, texts] = [found.categories.length, found.texts.length];
  output.result(
    { file, categories, texts },
    `${file}: ${many(categories, 'category', 'categories')}, ${many(texts, 'consent text')}.`,
  );
}

async function push(session: Session, file: string, options: Answers): Promise<void> {
  const { output } = session;
  const given = textAt(file);
  if (given === undefined) throw refused(`${file} does not exist.`, 'lethe categories pull writes one.');
  const lethe = session.client(PATIENT);
  const there = await declarationsOf(lethe);
  const wanted = declarationsIn(given, file, there);
  if (options.prune) requireCategories(given, file);
  const partial = inOneLanguage(wanted);
  if (partial.length > 0)
    output.note(
      `The purpose of ${partial.join(', ')} is not in both languages. Write description_de and description_en: users read their own, else the other.`,
    );
  const plan = planOf(there, wanted, options.prune === true);
  if (plan.kept.length > 0)
    output.note(
      `Not in ${file}, and kept: ${plan.kept.join(', ')}. --prune deletes such categories with their values; texts stay.`,
    );
  const facts = Object.fromEntries(Object.entries(plan).map(([name, list]) => [name, list.map(nameOf)]));
  if (plan.registered.length + plan.changed.length + plan.deleted.length + plan.texts.length === 0)
    return output.result(facts, 'The service has all of it already.');
  showDiff(session, textOf(there), textOf(together(there, wanted, plan.deleted)));
  if (!options.yes) await confirm(session, plan.deleted);
  const before = new Map(there.categories.map((one) => [one.key, one]));
  const changes = plan.changed.map((one) => changeOf(before.get(one.key) ?? one, one));
  await inTurn(session, [
    ...named(plan.registered, (one) => lethe.categories.register(one)),
    ...named(changes, (one) => lethe.categories.change(one)),
    ...plan.texts.map((one) => [`text ${textKey(one)}`, () => lethe.consents.registerText(one)] as const),
    ...named(plan.deleted, ({ key }) => lethe.categories.delete(key)),
  ]);
  return output.result(
    facts,
    `Registered ${plan.registered.length}, changed ${plan.changed.length}, deleted ${many(plan.deleted.length, 'category', 'categories')}; registered ${many(plan.texts.length, 'text')}.`,
  );
}

type Plan = ReturnType<typeof planOf>;
const nameOf = (one: string | { key: string } | Declarations['texts'][number]): string =>
  typeof one === 'string' ? one : 'key' in one ? one.key : textKey(one);

function planOf(there: Declarations, wanted: Declarations, isPruning: boolean) {
  const categories = new Map(there.categories.map((one) => [one.key, one]));
  const texts = new Map(there.texts.map((one) => [textKey(one), one]));
  for (const one of wanted.texts) {
    const known = texts.get(textKey(one));
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(one))
      throw refused(
        `The text ${textKey(one)} is registered with other words, to which users may have agreed.`,
        'Nothing was changed. Give the new words a new consent_version.',
      );
  }
  const missing = there.categories.filter(({ key }) => !wanted.categories.some((one) => one.key === key));
  const unnamed = [...texts.keys()].filter((key) => !wanted.texts.some((one) => textKey(one) === key));
  return {
    registered: wanted.categories.filter(({ key }) => !categories.has(key)),
    changed: wanted.categories.filter(
      (one) => categories.has(one.key) && JSON.stringify(categories.get(one.key)) !== JSON.stringify(one),
    ),
    deleted: isPruning ? missing : [],
    texts: wanted.texts.filter((one) => !texts.has(textKey(one))),
    kept: [...(isPruning ? [] : missing.map(({ key }) => key)), ...unnamed],
  };
}

/** What the service has after a push that deletes the categories `deleted`. */
function together(there: Declarations, wanted: Declarations, deleted: Plan['deleted']): Declarations {
  const categories = new Map([...there.categories, ...wanted.categories].map((one) => [one.key, one]));
  for (const { key } of deleted) categories.delete(key);
  const texts = new Map([...there.texts, ...wanted.texts].map((one) => [textKey(one), one]));
  const sorted = <T>(all: Map<string, T>): T[] =>
    [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return { categories: sorted(categories), texts: sorted(texts) };
}

function showDiff({ output }: Session, before: string, after: string): void {
  const colours = { '+': 'green', '-': 'red', ' ': 'reset' } as const;
  for (const [mark, line] of diffOf(before, after))
    output.note(output.paint(colours[mark], `${mark} ${line}`));
}

async function confirm({ output }: Session, deleted: Plan['deleted']): Promise<void> {
  const [first] = deleted;
  const question =
    first === undefined
      ? 'Bring this to the service? [y/N] '
      : `All values of ${deleted.map(({ key }) => key).join(', ')} are erased. Type ${first.key} to confirm: `;
  const answer = await output.ask(question, '--yes');
  if (first === undefined ? !/^y(es)?$/i.test(answer) : answer !== first.key)
    throw refused('Not confirmed.', 'Nothing was changed.');
}

const named = <T extends { readonly key: string }>(all: readonly T[], act: (one: T) => Promise<unknown>) =>
  all.map((one) => [`category ${one.key}`, () => act(one)] as const);
