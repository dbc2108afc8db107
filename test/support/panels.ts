import type { Series } from './prometheus';

export interface NamedSeries extends Series {
  readonly name: string;
}

/** One panel of the dashboard with what Prometheus answered to each of its queries. */
export interface DrawnPanel {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly NamedSeries[];
}

const [WIDTH, HEIGHT, COLUMNS, GAP] = [380, 190, 3, 12];
const PLOT = { left: 58, right: 10, top: 30, bottom: 44 };
const COLOURS = ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#9a6700', '#cf222e'];

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** An SVG of panels, three a row: lines over the time, with the greatest value and the names of the series. */
export function picture(panels: readonly DrawnPanel[]): string {
  const rows = Math.ceil(panels.length / COLUMNS);
  const [width, height] = [COLUMNS * (WIDTH + GAP) + GAP, rows * (HEIGHT + GAP) + GAP];
  const drawn = panels.map((panel, at) => {
    const [x, y] = [GAP + (at % COLUMNS) * (WIDTH + GAP), GAP + Math.floor(at / COLUMNS) * (HEIGHT + GAP)];
    return `<g transform="translate(${x} ${y})">${drawnPanel(panel)}</g>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Panels of the dashboard">\n` +
    `<style>text{font:11px system-ui,sans-serif;fill:#24292f}.title{font-size:13px;font-weight:600}.back{fill:#f6f8fa}.page{fill:#fff}.grid{stroke:#d0d7de}path{fill:none;stroke-width:1.5}</style>\n` +
    `<rect class="page" width="${width}" height="${height}"/>\n${drawn.join('\n')}\n</svg>\n`
  );
}

function drawnPanel({ title, unit, series }: DrawnPanel): string {
  const numbers = series.map(({ values }) =>
    values
      .map(([seconds, value]) => [seconds, Number(value)] as const)
      .filter(([, value]) => Number.isFinite(value)),
  );
  const all = numbers.flat();
  const times = all.map(([seconds]) => seconds);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const top = Math.max(...all.map(([, value]) => value)) || 1;
  const x = (seconds: number): number =>
    PLOT.left + ((seconds - from) / (to - from || 1)) * (WIDTH - PLOT.left - PLOT.right);
  const y = (value: number): number =>
    HEIGHT - PLOT.bottom - (value / top) * (HEIGHT - PLOT.top - PLOT.bottom);
  const lines = numbers.map((points, at) => {
    const way = points.map(([seconds, value]) => `${x(seconds).toFixed(1)},${y(value).toFixed(1)}`).join('L');
    return way === '' ? '' : `<path stroke="${COLOURS[at % COLOURS.length]}" d="M${way}"/>`;
  });
  const names = series.slice(0, 4).map((one, at) => {
    const place = `x="${PLOT.left + (at % 2) * 150}" y="${HEIGHT - 24 + Math.floor(at / 2) * 14}"`;
    return `<text ${place} style="fill:${COLOURS[at]}">${escaped(one.name.slice(0, 24))}</text>`;
  });
  const axis = `<line class="grid" x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${y(0)}" y2="${y(0)}"/>`;
  return [
    `<rect class="back" width="${WIDTH}" height="${HEIGHT}" rx="6"/><text class="title" x="12" y="19">${escaped(title)}</text>`,
    `<text x="6" y="${y(top) + 4}">${shown(top, unit)}</text><text x="6" y="${y(0) + 4}">0</text>${axis}`,
    ...lines,
    ...names,
  ].join('');
}

const SCALES: readonly (readonly [number, string])[] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

function shown(value: number, unit: string): string {
  if (unit === 's')
    return value < 1 ? `${Number((value * 1_000).toPrecision(2))} ms` : `${Number(value.toPrecision(2))} s`;
  const [by, letter] = SCALES.find(([scale]) => value >= scale) ?? [1, ''];
  return `${Number((value / by).toPrecision(2))}${letter}${unit === 'bytes' ? 'B' : ''}`;
}
