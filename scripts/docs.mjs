import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { transformFileSync } from '@swc/core';

// Generates docs/errors.md with its copy in clients/python, .env.example, llms.txt, the tables of docs/reference.md and docs/operate.md, and the words of lethe_discord
// from the code. `--check` writes nothing and prints the outdated files, one a line.

const ROOT = join(import.meta.dirname, '..');
const path = (name) => join(ROOT, name);

/** Loads a TypeScript module with its imports of the same folder from the source, without a build. */
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
const { CONFLICT_REASONS } = await load('libs/kernel/src/conflict-reasons.ts');
const { EN } = await load('packages/discord/src/texts/en.ts');
const { DE } = await load('packages/discord/src/texts/de.ts');
const { METRICS } = await load('libs/kernel/src/metric.definitions.ts');
const { llmsText } = await load('apps/api/src/llms.ts');

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

/** The text of a file with new generated blocks. */
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

/** docs/errors.md: one entry for each error code, and for each reason of a 409. */
function errorsPage() {
  const entry = (title, { meaning, mend }) => [
    `### ${title}`,
    `${sentence(meaning)}`,
    `**What to do:** ${mend}`,
  ];
  return (
    [
      '# Errors',
      '<!-- Generated from libs/kernel/src/errors.ts by `npm run docs`. -->',
      'Every error has the same form:',
      '```json\n{ "success": false, "error": { "code": "conflict", "message": "…", "details": { "reason": "bot_exists" } } }\n```',
      'Rely on `code` and `details`. `message` is for people and may change. Every answer carries `X-Request-Id`: the operator finds the request in the log by it.',
      '## Codes',
      ...Object.entries(ERRORS).flatMap(([code, error]) => entry(`${error.status} \`${code}\``, error)),
      '## Reasons of a 409',
      'A `conflict` names its reason in `details.reason`.',
      ...Object.entries(CONFLICT_REASONS).flatMap(([reason, conflict]) => entry(`\`${reason}\``, conflict)),
    ].join('\n\n') + '\n'
  );
}

/** llms.txt at the root: the same list that the service answers, with paths of this repository. */
function llms() {
  const api = [
    '- [OpenAPI document](openapi.json): every operation, with examples.',
    '- [AGENTS.md](AGENTS.md): commands, map and rules for coding agents.',
  ];
  return llmsText(readFileSync(path('docs/README.md'), 'utf8'), api, (file) => posix.join('docs', file));
}

const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

const stale = Object.entries({
  'docs/errors.md': errorsPage(),
  'clients/python/src/lethe_client/errors.md': errorsPage(),
  'docs/reference.md': withBlocks('docs/reference.md', 'settings', 'errors'),
  'docs/operate.md': withBlocks('docs/operate.md', 'metrics'),
  '.env.example': envExample(),
  'llms.txt': llms(),
  'clients/python/src/lethe_discord/texts.json': `${JSON.stringify({ en: EN, de: DE }, null, 2)}\n`,
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
