import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';

// Writes what is made from the code into README.md, docs/operations.md and .env.example. `--check` writes nothing and names, one per
// line, the files that are stale.

const ROOT = join(import.meta.dirname, '..');
const path = (name) => join(ROOT, name);

/** A TypeScript module and what it imports from its folder, straight from the source: no build is needed. */
function moduleUrl(name) {
  const { code } = transformFileSync(path(name), {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  });
  const linked = code.replace(
    /\bfrom (['"])(\.\/[^'"]+)\1/g,
    (_, quote, file) => `from ${quote}${moduleUrl(join(dirname(name), `${file}.ts`))}${quote}`,
  );
  return `data:text/javascript;base64,${Buffer.from(linked).toString('base64')}`;
}

const load = (name) => import(moduleUrl(name));

const { SETTINGS } = await load('libs/kernel/src/settings.ts');
const { ERRORS } = await load('libs/kernel/src/errors.ts');
const { METRICS } = await load('libs/metrics/src/metric.definitions.ts');

function table(header, rows) {
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return ['<!-- prettier-ignore -->', ...lines].join('\n');
}

const code = (text) => (text === '' ? '(empty)' : `\`${text}\``);

const BLOCKS = {
  settings: table(
    ['Variable', 'Default', 'Meaning'],
    Object.values(SETTINGS).map((setting) => [
      code(setting.name),
      code(setting.default),
      setting.description,
    ]),
  ),
  errors: table(
    ['Code', 'Status', 'Meaning'],
    Object.entries(ERRORS).map(([name, { status, meaning }]) => [code(name), String(status), meaning]),
  ),
  metrics: table(
    ['Metric', 'Type', 'Labels', 'Meaning'],
    Object.values(METRICS).map(({ name, type, label, labels = [], help }) => [
      code(name),
      type,
      [...labels, ...(label === undefined ? [] : [label.name])].map(code).join(', '),
      help,
    ]),
  ),
};

/** The text of a file with its generated blocks made anew. */
function withBlocks(file, ...names) {
  let text = readFileSync(path(file), 'utf8');
  for (const name of names) {
    const block = BLOCKS[name];
    const [begin, end] = [`<!-- generated:${name} -->`, '<!-- /generated -->'];
    const from = text.indexOf(begin);
    const to = text.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`${file} has no ${begin} … ${end}`);
    text = `${text.slice(0, from + begin.length)}\n\n${block}\n\n${text.slice(to)}`;
  }
  return text;
}

function envExample() {
  const settings = Object.values(SETTINGS).map(
    (setting) => `# ${setting.description.replaceAll('`', '')}.\n#${setting.name}=${setting.default}\n`,
  );
  return [
    '# Copy to .env and take away the # where a value is to differ from the default.\n',
    ...settings,
  ].join('\n');
}

const stale = Object.entries({
  'README.md': withBlocks('README.md', 'settings', 'errors'),
  'docs/operations.md': withBlocks('docs/operations.md', 'metrics'),
  '.env.example': envExample(),
}).filter(([name, text]) => readOr(path(name), '') !== text);

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

for (const [name, text] of stale) {
  if (!process.argv.includes('--check')) writeFileSync(path(name), text);
  console.log(name);
}
if (process.argv.includes('--check') && stale.length > 0) process.exitCode = 1;
