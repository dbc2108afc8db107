import type { Category } from './declarations';

/** The beginning of a file that may be written anew. */
export const TYPES_HEAD =
  '// Written by lethe categories types from the declared categories of the bot. A new run replaces it.\n';

/** How the interface carries a value of each declared type. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'string',
};

/** One interface for each category by its fields, and `Categories` of all of them, for `new Lethe<Categories>(…)`. */
export function typesOf(categories: readonly Category[]): string {
  const names = new Map<string, string>();
  const taken = new Set(['Categories']);
  for (const { key } of categories) {
    const name = nameOf(key);
    let own = name;
    for (let count = 2; taken.has(own); count++) own = `${name}${count}`;
    taken.add(own);
    names.set(key, own);
  }
  const lines = categories.map(({ key }) => `  readonly ${property(key)}: ${names.get(key) ?? ''};`);
  const all = ['export interface Categories {', ...lines, '}'].join('\n');
  return (
    [TYPES_HEAD + all, ...categories.map((one) => interfaceOf(one, names.get(one.key) ?? ''))].join('\n\n') +
    '\n'
  );
}

function interfaceOf({ label_en: label, fields = [] }: Category, name: string): string {
  const lines = fields.map(
    (one) =>
      `${comment(one.label_en, '  ')}  readonly ${property(one.key)}?: ${TYPES[one.type] ?? 'unknown'};`,
  );
  // Without declared fields a category takes any object.
  const inner = lines.length > 0 ? lines : ['  readonly [key: string]: unknown;'];
  return [`${comment(label, '')}export interface ${name} {`, ...inner, '}'].join('\n');
}

const comment = (label: string, indent: string): string =>
  `${indent}/** ${label.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */\n`;

const property = (key: string): string => (/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key));

/** `game_stats` as `GameStats`. */
function nameOf(key: string): string {
  const words = key.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(name) ? name : `Category${name}`;
}
