import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

export const DOCUMENT = join(import.meta.dirname, '../docs/performance.md');
const PLOTS = join(import.meta.dirname, '../docs/plots');

/** Puts `text` between the markers of `name` in docs/performance.md. */
export function writeSection(name, text) {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no section ${name}`);
  const before = document.slice(0, from + begin.length);
  writeFileSync(
    DOCUMENT,
    `${before}\n\n<!-- prettier-ignore-start -->\n\n${text}\n\n<!-- prettier-ignore-end -->\n\n${document.slice(to)}`,
  );
}

/** Writes a plot of docs/performance.md. */
export function writePlot(name, svg) {
  mkdirSync(PLOTS, { recursive: true });
  writeFileSync(join(PLOTS, `${name}.svg`), svg);
}

/** The first `texts` columns hold text, the others figures. */
export function markdownTable(heads, rows, texts = 1) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const rule = heads.map((_, n) => (n < texts ? '---' : '---:'));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** The hardware and versions of the measurement, without names of the machine. */
export function machine() {
  const cores = cpus();
  const model = cores[0].model.replaceAll('(R)', '');
  return `${cores.length} shared cores (${model}), Node ${process.versions.node}`;
}
