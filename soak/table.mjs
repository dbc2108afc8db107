/** @typedef {{ figure: string, value: string, bound: string, verdict: 'ok' | 'over' | 'only shown' }} Row */

const text = (value, unit) => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`;
};

/** A figure that is over its bound when it is larger; what cannot be measured is over it too. */
export function atMost(bound, figure, value, unit = '') {
  const verdict = value <= bound ? 'ok' : 'over';
  return { figure, value: text(value, unit), bound: `at most ${text(bound, unit)}`, verdict };
}

/** A figure that is over its bound when it is smaller. */
export function atLeast(bound, figure, value, unit = '') {
  const verdict = value >= bound ? 'ok' : 'over';
  return { figure, value: text(value, unit), bound: `at least ${text(bound, unit)}`, verdict };
}

/** A figure that explains others. */
export function shown(figure, value, unit = '') {
  return { figure, value: text(value, unit), bound: '', verdict: 'only shown' };
}

/** Rows under heads, in columns. */
export function tableOf(rows) {
  const heads = { figure: 'figure', value: 'value', bound: 'bound', verdict: 'verdict' };
  const columns = Object.keys(heads);
  const all = [heads, ...rows];
  const widths = columns.map((column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      columns
        .map((column, n) => row[column].padEnd(widths[n]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
