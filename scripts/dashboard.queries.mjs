/** What Grafana puts in place of the variables: every process, and the interval at a scrape each 15 seconds. */
const CHOSEN = { job: '.*', instance: '.*', __rate_interval: '1m' };

/** Each query of each panel as Grafana sends it: `{ panel, expr, legend }`. */
export function queriesOf({ panels }, chosen = {}) {
  const values = { ...CHOSEN, ...chosen };
  return panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr, legendFormat }) => ({
      panel,
      expr: expr.replace(/\$(\w+)/g, (_, name) => values[name]),
      legend: legendFormat,
    })),
  );
}

/** The words of a legend for one series; `undefined` where the series lacks a label that it names. */
export function legendOf(legend, labels) {
  const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
  if (named.some((name) => labels[name] === undefined)) return undefined;
  return legend.replace(/\{\{(\w+)\}\}/g, (_, name) => labels[name]);
}

/** The answer of a Prometheus to a request of its API. @throws Error with its words when it refuses the request */
export async function asked(url, path, parameters = {}) {
  const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const answer = await response.json();
  if (answer.status !== 'success') throw new Error(`${answer.error} ${JSON.stringify(parameters)}`);
  return answer.data;
}
