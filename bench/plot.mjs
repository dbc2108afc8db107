const WIDTH = 560;
const HEIGHT = 320;
const FRAME = { left: 64, right: 20, top: 48, bottom: 52 };
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; }
  .a { stroke: #0969da; } .a-fill { fill: #0969da; }
  .b { stroke: #bc4c00; } .b-fill { fill: #bc4c00; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .grid { stroke: #3d444d; }
    .a { stroke: #58a6ff; } .a-fill { fill: #58a6ff; }
    .b { stroke: #ffa657; } .b-fill { fill: #ffa657; }
  }`;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const shortened = (value) => Number(value.toPrecision(3)).toString();

/** The next round number that four equal steps divide. */
function roundedUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].map((step) => step * unit).find((step) => step >= value);
}

/**
 * An SVG of one operation's milliseconds over the number of rows: `series` is a list of at most two of
 * `{ name, points: [[rows, ms], …] }`. It adapts to a dark or light scheme and has its figures as text.
 */
export function plot(title, series) {
  const all = series.flatMap(({ points }) => points);
  const logs = all.map(([rows]) => Math.log10(rows));
  const [from, to] = [
    Math.floor(Math.min(...logs)),
    Math.max(Math.ceil(Math.max(...logs)), Math.floor(Math.min(...logs)) + 1),
  ];
  const top = roundedUp(Math.max(...all.map(([, ms]) => ms)) * 1.05);
  const x = (rows) =>
    FRAME.left + ((Math.log10(rows) - from) / (to - from)) * (WIDTH - FRAME.left - FRAME.right);
  const y = (ms) => HEIGHT - FRAME.bottom - (ms / top) * (HEIGHT - FRAME.top - FRAME.bottom);
  const parts = [...axes(from, to, top, x, y), ...series.flatMap((each, n) => curve(each, 'ab'[n], x, y))];
  const words = series.map(
    ({ name, points }) =>
      `${name}: ${points.map(([rows, ms]) => `${shortened(ms)} ms at ${rows.toLocaleString('en-US')} rows`).join(', ')}.`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}, in milliseconds over the number of rows</title>
<desc id="desc">${escaped(words.join(' '))}</desc>
<style>${STYLE}
</style>
<text class="title" x="${FRAME.left}" y="24">${escaped(title)}</text>
${parts.join('\n')}
${series.map(({ name }, n) => legend(name, 'ab'[n], n)).join('\n')}
</svg>
`;
}

function axes(from, to, top, x, y) {
  const parts = [];
  for (let step = 0; step <= 4; step++) {
    const ms = (top * step) / 4;
    parts.push(
      `<line class="grid" x1="${FRAME.left}" y1="${y(ms)}" x2="${WIDTH - FRAME.right}" y2="${y(ms)}"/>`,
      `<text x="${FRAME.left - 8}" y="${y(ms) + 4}" text-anchor="end">${shortened(ms)}</text>`,
    );
  }
  for (let power = from; power <= to; power++) {
    const label = `10<tspan dy="-5" font-size="10">${power}</tspan>`;
    parts.push(
      `<text x="${x(10 ** power)}" y="${HEIGHT - FRAME.bottom + 22}" text-anchor="middle">${label}</text>`,
    );
  }
  const middle = (FRAME.left + WIDTH - FRAME.right) / 2;
  parts.push(
    `<text x="${middle}" y="${HEIGHT - 8}" text-anchor="middle">rows of others in the table</text>`,
    `<text x="${FRAME.left - 8}" y="${FRAME.top - 10}" text-anchor="end">ms</text>`,
  );
  return parts;
}

function curve({ points }, style, x, y) {
  const path = points.map(([rows, ms]) => `${x(rows).toFixed(1)},${y(ms).toFixed(1)}`);
  const marks = points.map(([rows, ms]) =>
    style === 'a'
      ? `<circle class="a-fill" cx="${x(rows).toFixed(1)}" cy="${y(ms).toFixed(1)}" r="4"/>`
      : `<rect class="b-fill" x="${(x(rows) - 4).toFixed(1)}" y="${(y(ms) - 4).toFixed(1)}" width="8" height="8"/>`,
  );
  return [`<polyline class="line ${style}" points="${path.join(' ')}"/>`, ...marks];
}

function legend(name, style, n) {
  const left = WIDTH - FRAME.right - 190 + n * 90;
  return `<rect class="${style}-fill" x="${left}" y="14" width="10" height="10"/><text x="${left + 16}" y="24">${escaped(name)}</text>`;
}

const ROW = 30;
const LABELS = 330;

/** An SVG of one bar for each `{ name, value }`, with its value beside it and a line at 1. */
export function bars(title, words, rows) {
  const width = WIDTH + 120;
  const height = FRAME.top + rows.length * ROW + 12;
  const top = Math.max(1, ...rows.map(({ value }) => value));
  const x = (value) => LABELS + (value / top) * (width - LABELS - 60);
  const parts = rows.map(({ name, value }, n) => {
    const y = FRAME.top + n * ROW;
    return `<text x="${LABELS - 8}" y="${y + 15}" text-anchor="end">${escaped(name)}</text>
<rect class="a-fill" x="${LABELS}" y="${y + 2}" width="${(x(value) - LABELS).toFixed(1)}" height="18" rx="2"/>
<text x="${(x(value) + 6).toFixed(1)}" y="${y + 15}">${value.toFixed(value < 10 ? 2 : 0)}</text>`;
  });
  const line = `<line class="grid" x1="${x(1).toFixed(1)}" y1="${FRAME.top - 6}" x2="${x(1).toFixed(1)}" y2="${height - 6}"/>`;
  const figures = rows.map(({ name, value }) => `${name}: ${value.toFixed(2)}`).join(', ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(`${words} ${figures}.`)}</desc>
<style>${STYLE}
</style>
<text class="title" x="12" y="24">${escaped(title)}</text>
${line}
${parts.join('\n')}
</svg>
`;
}
