import { parse } from 'yaml';
import { textAt } from './env-file';
import { refused } from './failures';

/** A holder as `lethe.yaml` declares it. */
export interface HolderDeclaration {
  readonly key: string;
  readonly label_de: string;
  readonly label_en: string;
  readonly covers: readonly string[];
  readonly public_key?: string;
}

const TEXTS = ['key', 'label_de', 'label_en'] as const;
const NAMES: readonly string[] = [...TEXTS, 'covers', 'public_key'];

/** The section `holders` of a file. @throws Failure that names the wrong place */
export function holdersIn(file: string): HolderDeclaration[] {
  const text = textAt(file);
  if (text === undefined)
    throw refused(`${file} does not exist.`, 'Write the holders of the bot into its section holders.');
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw refused(`${file} is no YAML: ${(error as Error).message.split('\n')[0]}`, 'Nothing was done.');
  }
  const list = ((content ?? {}) as { holders?: unknown }).holders;
  if (!Array.isArray(list) || list.length === 0)
    throw refused(`${file} has no list holders.`, 'Each has key, label_de, label_en and covers: its tables.');
  return list.map((one: unknown, at) => requireHolder(one, `${file}: holders[${at}]`));
}

function requireHolder(one: unknown, place: string): HolderDeclaration {
  const given = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
  const wrong = Object.keys(given).filter((name) => !NAMES.includes(name));
  if (wrong.length > 0) throw refused(`${place} has ${wrong.join(', ')}.`, `Known are ${NAMES.join(', ')}.`);
  const missing = TEXTS.filter((name) => typeof given[name] !== 'string');
  if (missing.length > 0) throw refused(`${place} needs ${missing.join(', ')} as text.`, 'Nothing was done.');
  const covers = given['covers'];
  if (!Array.isArray(covers) || covers.length === 0 || !covers.every((name) => typeof name === 'string'))
    throw refused(`${place} needs covers.`, 'List the names of its tables, collections or folders.');
  return given as unknown as HolderDeclaration;
}

/** The section `holders` of a text, as it is written there, so that a file that is written anew keeps it. */
export function holderSection(text: string): string {
  const lines = text.split('\n');
  const begin = lines.findIndex((line) => /^holders:/.test(line));
  if (begin < 0) return '';
  const length = lines.slice(begin + 1).findIndex((line) => /^[^\s#-]/.test(line));
  const section = lines.slice(begin, length < 0 ? undefined : begin + 1 + length);
  return `${section.join('\n').trimEnd()}\n`;
}
