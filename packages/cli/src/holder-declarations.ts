import { isMap, isScalar, type Node, parse, parseDocument, stringify } from 'yaml';
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
  const list = contentOf(text, file).holders;
  if (!Array.isArray(list) || list.length === 0)
    throw refused(`${file} has no list holders.`, 'Each has key, label_de, label_en and covers: its tables.');
  return list.map((one: unknown, at) => requireHolder(one, `${file}: holders[${at}]`));
}

function contentOf(text: string, file: string): { readonly holders?: unknown } {
  try {
    return (parse(text) ?? {}) as { holders?: unknown };
  } catch (error) {
    throw refused(`${file} is no YAML: ${(error as Error).message.split('\n')[0]}`, 'Nothing was done.');
  }
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

/**
 * A text that is written anew, and behind it the section `holders` of the file: as it is written there, or without its
 * comments where that would mean something else.
 */
export function withHolders(written: string, file: string, there: string): string {
  const { holders } = contentOf(there, file);
  const text = written + sectionIn(there);
  return hasSame(holders, text) ? text : written + stringify({ holders }, { lineWidth: 110 });
}

function hasSame(holders: unknown, text: string): boolean {
  try {
    return JSON.stringify((parse(text) as { holders?: unknown }).holders) === JSON.stringify(holders);
  } catch {
    return false;
  }
}

function sectionIn(text: string): string {
  const { contents } = parseDocument(text);
  const found = isMap<Node, Node | null>(contents)
    ? contents.items.find(({ key }) => isScalar(key) && key.value === 'holders')
    : undefined;
  const [begin, end] = [found?.key.range?.[0], found?.value?.range?.[2]];
  return begin === undefined || end === undefined ? '' : `${text.slice(begin, end).trimEnd()}\n`;
}
