import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { refused, wrongUsage } from './failures';
import { notUtf8, settingsIn, utf8In } from './settings-file';

/** What the command line reads and writes in `.env`. The environment has priority over the file. */
export const NAMES = ['LETHE_URL', 'LETHE_BOT_ID', 'LETHE_KEY', 'LETHE_WEBHOOK_SECRET'] as const;
export type Values = Readonly<Record<string, string | undefined>>;

/**
 * The values of a file like `.env`; none where there is no file.
 * @throws Failure of wrong usage that names each line that is not understood
 */
export function readEnvFile(path: string): Values {
  const bytes = bytesAt(path);
  return bytes === undefined ? {} : valuesIn(bytes, path);
}

/** The text of a file in UTF-8. @throws Failure of wrong usage for any other file, and where there is none */
export function readText(path: string): string {
  const text = textAt(path);
  if (text === undefined) throw wrongUsage(`${path} does not exist.`, 'Name a file that you can read.');
  return text;
}

/** {@link readText}; undefined where there is no file. */
export function textAt(path: string): string | undefined {
  const bytes = bytesAt(path);
  if (bytes === undefined) return undefined;
  const text = utf8In(bytes);
  if (text === undefined) throw wrongUsage(`${notUtf8(path)}.`, 'Nothing was done.');
  return text;
}

/** Only a missing entry is an absence: after any other fault a file would be replaced that is there. */
function bytesAt(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (/^(ENOENT|ENOTDIR)$/.test(code)) return undefined;
    throw wrongUsage(`${path} cannot be read: ${message}`, 'Name a file that you can read.');
  }
}

function valuesIn(bytes: Uint8Array, path: string): Values {
  const { values, faults } = settingsIn(bytes, path, (name) => NAMES.some((own) => own === name));
  if (faults.length > 0)
    throw wrongUsage(
      `${faults.join('\n')}.`,
      'Nothing was done. Correct the file, or name another one with --dotenv.',
    );
  return values;
}

/**
 * Writes values into a file like `.env`, readable by its owner only. Every other line is kept as it is. The file is
 * replaced as a whole, so that a crash leaves the old or the new one. Refuses a file that
 * could not take values under the names of `later` either: those are given once.
 */
export function writeEnvFile(
  path: string,
  values: Readonly<Record<string, string>>,
  ...later: readonly string[]
): void {
  const found = textAt(path);
  const before = found ?? '';
  const text = withValues(before, values);
  requireUnchanged(path, before, text, values);
  const all = { ...values, ...Object.fromEntries(later.map((name) => [name, 'x'])) };
  requireUnchanged(path, before, withValues(before, all), all);
  replaceFile(
    path,
    text,
    'Nothing was changed. Check the permissions of the folder, or name another file with --dotenv.',
    0o600,
  );
}

/**
 * Replaces a file as a whole, so that a full disk or a crash leaves the old or the new one. Without a mode it keeps that of
 * the old one. @throws Failure that says `mend`
 */
export function replaceFile(
  path: string,
  text: string,
  mend = 'It was not changed. Is the disk full, or is the folder of somebody else?',
  mode?: number,
): void {
  let temporary: string | undefined;
  try {
    const old = statSync(path, { throwIfNoEntry: false });
    // A terminal or a pipe is written to.
    if (old !== undefined && !old.isFile()) return writeFileSync(path, text);
    const target = old === undefined ? linkedFrom(path) : realpathSync(path);
    const permissions = mode ?? (old === undefined ? undefined : old.mode & 0o777);
    temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
    writeFileSync(temporary, text, { flag: 'wx', ...(permissions !== undefined && { mode: permissions }) });
    if (permissions !== undefined) chmodSync(temporary, permissions);
    renameSync(temporary, target);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    if ((error as NodeJS.ErrnoException).code === 'EBUSY')
      throw refused(
        `${path} is mounted by itself, so that no other file can take its place.`,
        'It was not changed. Mount its folder instead.',
      );
    throw refused(`${path} cannot be written: ${(error as Error).message}`, mend);
  }
}

/** What a link that leads nowhere yet, or a chain of them, names; the path itself where it is no link. */
function linkedFrom(path: string): string {
  let target: string;
  try {
    target = resolve(realpathSync(dirname(path)), readlinkSync(path));
  } catch {
    return path;
  }
  return linkedFrom(target);
}

/** The text with a line for each value, in the place of the line that has its name. */
export function withValues(text: string, values: Readonly<Record<string, string>>): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  for (const [name, value] of Object.entries(values)) {
    // The last one counts where a name has two lines.
    const at = lines.findLastIndex((line) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(line));
    if (at < 0) lines.push(`${name}=${value}`);
    else lines[at] = `${name}=${value}`;
  }
  return lines.map((line) => line + end).join('');
}

/** Refuses a change that would alter another value, as in a value of several lines. */
function requireUnchanged(path: string, before: string, after: string, values: Values): void {
  const read = (text: string): Values => settingsIn(Buffer.from(text), path, () => false).values;
  const [old, changed] = [read(before), read(after)];
  const lost = Object.keys(old).filter((name) => !(name in values) && changed[name] !== old[name]);
  const wrong = Object.keys(values).filter((name) => changed[name] !== values[name]);
  if (lost.length + wrong.length === 0) return;
  throw refused(
    `${path} has a form that cannot be changed without touching ${[...lost, ...wrong].join(', ')}.`,
    'Nothing was changed. Put the values of Lethe on lines of their own, or name another file with --dotenv.',
  );
}

/** Whether git ignores the file; undefined where there is no repository or no git. */
export function isIgnored(path: string): boolean | undefined {
  const { status } = spawnSync('git', ['check-ignore', '-q', basename(path)], { cwd: dirname(path) });
  return status === 0 || status === 1 ? status === 0 : undefined;
}

/** Adds the file to the `.gitignore` of its folder; answers whether that was needed. */
export function ignoreInGit(path: string): boolean {
  const file = join(dirname(path), '.gitignore');
  const text = textAt(file) ?? '';
  const name = basename(path);
  if (isIgnored(path) || text.split(/\r?\n/).some((line) => [name, `/${name}`].includes(line.trim())))
    return false;
  replaceFile(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${name}\n`);
  return true;
}
