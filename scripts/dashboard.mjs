// node scripts/dashboard.mjs: draws panels of docs/operations/grafana-dashboard.json from the numbers of a Prometheus.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { asked, legendOf, queriesOf } from './dashboard.queries.mjs';

const USAGE = `node scripts/dashboard.mjs --prometheus URL --out FILE.svg [--minutes N] [--rows N]

Draws the first rows of the dashboard, each of which has a heading, from the last minutes of a Prometheus that reads Lethe.
--minutes 1 to 1440, 15 by default; --rows 1 to 7, 4 by default.
`;
const DASHBOARD = join(import.meta.dirname, '../docs/operations/grafana-dashboard.json');

/** A cell of the 24 columns of Grafana, and the space around a panel. */
const [CELL, GAP] = [50, 4];
const LINE = 30;
const STEPS = 120;
const COLOURS = ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#bf3989', '#9a6700', '#57606a', '#cf222e'];
/** Beside colours that mean something. */
const NEUTRAL = ['#0969da', '#8250df', '#bf3989', '#57606a', '#9a6700'];
/** The names of Grafana, each with two shades. */
const NAMED = {
  green: ['#1a7f37', '#4ac26b'],
  orange: ['#bc4c00', '#fb8f44'],
  red: ['#cf222e', '#ff8182'],
  blue: ['#0969da', '#54aeff'],
};
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .page { fill: #f6f8fa; } .panel { fill: #ffffff; stroke: #d0d7de; }
  .row { font-size: 15px; font-weight: 600; } .title { font-size: 12.5px; font-weight: 600; }
  .small { font-size: 11px; fill: #57606a; } .number { font-size: 26px; font-weight: 600; }
  .grid { stroke: #eaeef2; } .line { fill: none; stroke-width: 1.5; } .limit { stroke-dasharray: 5 4; }`;

const escaped = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const rounded = (value) => String(Number(value.toPrecision(3)));

/** Units of Grafana, each with its steps: the greatest that fits is taken. */
const UNITS = {
  s: [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
    [0.001, 'ms'],
    [0.000_001, 'µs'],
  ],
  bytes: [
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
  ],
  reqps: [[1, 'req/s']],
  cps: [[1, '/s']],
  ops: [[1, '/s']],
  percentunit: [[0.01, '%']],
};

function stepOf(value, unit) {
  const steps = UNITS[unit] ?? [[1, '']];
  const fitting = steps.find(([size]) => (value === 0 ? size === 1 : value >= size));
  return fitting ?? steps.at(-1);
}

function withUnit(value, unit, [size, name] = stepOf(value, unit)) {
  return `${rounded(value / size)}${name === '%' || name === '' ? name : ` ${name}`}`;
}

/** Each panel with what Prometheus answers: `series` of `{ name, points: [[second, value], …] }`. */
async function readPanels(url, dashboard, minutes) {
  const end = Math.floor(Date.now() / 1_000);
  const start = end - minutes * 60;
  const step = Math.max(1, Math.round((minutes * 60) / STEPS));
  const panels = new Map(dashboard.panels.map((panel) => [panel.id, { panel, series: [] }]));
  for (const { panel, expr, legend } of queriesOf(dashboard)) {
    const { result } = await asked(url, 'query_range', { query: expr, start, end, step });
    // The legend has no room for all: the greatest first.
    const greatest = ({ values }) => Math.max(...values.map(([, value]) => Number(value) || 0));
    if (expr.startsWith('topk')) result.sort((one, other) => greatest(other) - greatest(one));
    for (const { metric, values } of result) {
      const points = values.map(([second, value]) => [second, Number(value)]);
      const finite = points.filter(([, value]) => Number.isFinite(value));
      const name = legendOf(legend, metric) ?? '';
      if (finite.length > 0) panels.get(panel.id).series.push({ name, points: finite });
    }
  }
  return { panels: [...panels.values()], start, end, step };
}

/** The colour of each series, by the overrides of its panel. */
function coloursOf({ fieldConfig: { overrides } }, series) {
  const used = new Map();
  const next = (key, list) => {
    const n = used.get(key) ?? 0;
    used.set(key, n + 1);
    return list[n % list.length];
  };
  return series.map(({ name }) => {
    const found = overrides.find(({ matcher }) => new RegExp(matcher.options).test(name));
    const colour = found?.properties[0].value.fixedColor;
    if (colour !== undefined) return next(colour, NAMED[colour]);
    return next('', overrides.length > 0 ? NEUTRAL : COLOURS);
  });
}

function stat({ panel, series }, { x, y, width, height }) {
  const { unit, thresholds, decimals } = panel.fieldConfig.defaults;
  const value = series[0]?.points.at(-1)[1];
  const step = thresholds.steps.findLast((one) => one.value === null || (value ?? 0) >= one.value);
  const text = value === undefined ? 'No data' : withUnit(decimals === 0 ? Math.round(value) : value, unit);
  const fill = value === undefined ? '#57606a' : NAMED[step.color][0];
  return `<text class="number" x="${x + width / 2}" y="${y + height / 2 + 20}" text-anchor="middle" style="fill:${fill}">${escaped(text)}</text>`;
}

function timeseries({ panel, series }, { x, y, width, height }, { start, end, step }) {
  const { unit, thresholds, custom } = panel.fieldConfig.defaults;
  const box = { left: x + 58, right: x + width - 10, top: y + 32, bottom: y + height - 44 };
  const most = Math.max(0, ...series.flatMap(({ points }) => points.map(([, value]) => value)));
  const limits =
    custom.thresholdsStyle === undefined ? [] : thresholds.steps.filter(({ value }) => value !== null);
  const [size] = stepOf(most, unit);
  const top = niceTop(most / size) * size;
  const colours = coloursOf(panel, series);
  const across = (second) => box.left + ((second - start) / (end - start)) * (box.right - box.left);
  const up = (value) => box.bottom - (value / top) * (box.bottom - box.top);
  const parts = [0, 0.5, 1].map(
    (part) =>
      `<line class="grid" x1="${box.left}" y1="${up(top * part)}" x2="${box.right}" y2="${up(top * part)}"/>` +
      `<text class="small" x="${box.left - 6}" y="${up(top * part) + 4}" text-anchor="end">${escaped(withUnit(top * part, unit, stepOf(top, unit)))}</text>`,
  );
  for (const { value, color } of limits)
    if (value <= top)
      parts.push(
        `<line class="limit" x1="${box.left}" y1="${up(value)}" x2="${box.right}" y2="${up(value)}" stroke="${NAMED[color][0]}"/>`,
      );
  for (const [n, { points }] of series.entries())
    parts.push(`<path class="line" stroke="${colours[n]}" d="${pathOf(points, step, across, up)}"/>`);
  if (series.length === 0)
    parts.push(
      `<text class="small" x="${x + width / 2}" y="${y + height / 2}" text-anchor="middle">No data</text>`,
    );
  return [...parts, ...legends(colours, series, box, y + height)].join('\n');
}

/** A line that is interrupted where numbers are missing. */
function pathOf(points, step, across, up) {
  return points
    .map(([second, value], n) => {
      const isNext = n > 0 && second - points[n - 1][0] <= step;
      return `${isNext ? 'L' : 'M'}${across(second).toFixed(1)} ${up(value).toFixed(1)}`;
    })
    .join('');
}

function niceTop(most) {
  if (most <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((one) => one * unit).find((one) => one >= most) ?? 10 * unit;
}

/** As many names as two lines have room for. */
function legends(colours, series, { left, right }, bottom) {
  const parts = [];
  let [x, y] = [left - 48, bottom - 24];
  for (const [n, { name }] of series.entries()) {
    const width = 22 + name.length * 6.2;
    if (x + width > right && x > left) [x, y] = [left - 48, y + 15];
    if (y > bottom - 6)
      return [...parts, `<text class="small" x="${right}" y="${bottom - 9}" text-anchor="end">…</text>`];
    parts.push(
      `<rect x="${x}" y="${y - 8}" width="10" height="3" fill="${colours[n]}"/><text class="small" x="${x + 14}" y="${y}">${escaped(name)}</text>`,
    );
    x += width;
  }
  return parts;
}

function drawn({ panels, ...span }, count) {
  const headings = panels.filter(({ panel }) => panel.type === 'row');
  const lines = headings[count]?.panel.gridPos.y ?? Infinity;
  const shown = panels.filter(({ panel }) => panel.gridPos.y < lines);
  const height = Math.max(...shown.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h)) * LINE + GAP;
  const parts = shown.map((one) => {
    const { title, type, gridPos } = one.panel;
    const [x, y] = [gridPos.x * CELL + GAP, gridPos.y * LINE + GAP];
    const [width, tall] = [gridPos.w * CELL - GAP, gridPos.h * LINE - GAP];
    if (type === 'row') return `<text class="row" x="${x + 4}" y="${y + 19}">${escaped(title)}</text>`;
    const content =
      type === 'stat'
        ? stat(one, { x, y, width, height: tall })
        : timeseries(one, { x, y, width, height: tall }, span);
    return `<rect class="panel" x="${x}" y="${y}" width="${width}" height="${tall}" rx="3"/>
<text class="title" x="${x + 10}" y="${y + 20}">${escaped(title)}</text>
${content}`;
  });
  const width = 24 * CELL + GAP;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">The first rows of the dashboard: ${escaped(
    headings
      .slice(0, count)
      .map(({ panel }) => panel.title)
      .join(', '),
  )}</title>
<style>${STYLE}
</style>
<rect class="page" width="${width}" height="${height}"/>
${parts.join('\n')}
</svg>
`;
}

const text = { type: 'string' };
const { values } = parseArgs({
  options: { prometheus: text, out: text, minutes: text, rows: text },
});
const [minutes, rows] = [Number(values.minutes ?? 15), Number(values.rows ?? 4)];
if (
  values.prometheus === undefined ||
  values.out === undefined ||
  !(minutes >= 1 && minutes <= 1_440) ||
  !(rows >= 1 && rows <= 7)
) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
writeFileSync(
  values.out,
  drawn(await readPanels(new URL(values.prometheus).origin, dashboard, minutes), rows),
);
