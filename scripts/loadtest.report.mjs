/** Times from 0.05 ms on, in steps of 2 %, so that a report takes the same memory after any number of calls. */
const FIRST_MS = 0.05;
const STEP = Math.log(1.02);
const STEPS = 800;

/** The calls of one operation: times, answers with errors, waits. */
class Operation {
  calls = 0;
  limited = 0;
  longestMs = 0;
  errors = new Map();
  times = new Uint32Array(STEPS);

  add(ms, code) {
    this.calls += 1;
    this.longestMs = Math.max(this.longestMs, ms);
    this.times[Math.min(STEPS - 1, Math.max(0, Math.ceil(Math.log(ms / FIRST_MS) / STEP)))] += 1;
    if (code?.startsWith('429 ')) this.limited += 1;
    else if (code !== undefined) this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  at(part) {
    let left = Math.max(1, Math.ceil(this.calls * part));
    const found = this.times.findIndex((count) => (left -= count) <= 0);
    return rounded(Math.min(this.longestMs, FIRST_MS * Math.exp(found * STEP)));
  }

  summary(seconds) {
    return {
      calls: this.calls,
      per_second: rounded(this.calls / seconds),
      milliseconds: {
        p50: this.at(0.5),
        p95: this.at(0.95),
        p99: this.at(0.99),
        max: rounded(this.longestMs),
      },
      rate_limited: this.limited,
      errors: Object.fromEntries([...this.errors].sort()),
    };
  }
}

const rounded = (value) => Number(value.toFixed(value < 10 ? 2 : 1));

/** What all bots have seen. Its size does not grow with calls, bots or users. */
export class Report {
  operations = new Map();
  waitedMs = 0;
  /** Bots by the requests a minute that their tier allows. */
  tiers = new Map();
  beganMs = performance.now();
  endedMs;

  /** Notes the answer to a call, with its code for an error. */
  add(operation, ms, code) {
    let found = this.operations.get(operation);
    if (found === undefined) this.operations.set(operation, (found = new Operation()));
    found.add(ms, code);
  }

  /** Begins the time over which rates are counted. */
  begin() {
    this.beganMs = performance.now();
  }

  end() {
    this.endedMs ??= performance.now();
  }

  get seconds() {
    return ((this.endedMs ?? performance.now()) - this.beganMs) / 1_000;
  }

  get calls() {
    return this.sum(({ calls }) => calls);
  }

  get limited() {
    return this.sum(({ limited }) => limited);
  }

  get failed() {
    return this.sum(({ errors }) => [...errors.values()].reduce((sum, count) => sum + count, 0));
  }

  sum(of) {
    return [...this.operations.values()].reduce((sum, operation) => sum + of(operation), 0);
  }

  summary(run) {
    const { seconds } = this;
    return {
      ...run,
      seconds: rounded(seconds),
      requests: this.calls,
      requests_per_second: rounded(this.calls / seconds),
      rate_limited: this.limited,
      errors: this.failed,
      waited_for_429_seconds: rounded(this.waitedMs / 1_000),
      bots_by_requests_per_minute: Object.fromEntries([...this.tiers].sort(([a], [b]) => a - b)),
      operations: Object.fromEntries(
        [...this.operations].map(([name, operation]) => [name, operation.summary(seconds)]),
      ),
    };
  }
}

const COLUMNS = ['operation', 'calls', 'per second', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', '429', 'errors'];

/** A summary in lines for people. */
export function linesOf(summary) {
  const rows = Object.entries(summary.operations).map(
    ([name, { calls, per_second, milliseconds, rate_limited, errors }]) => [
      name,
      ...[calls, per_second, milliseconds.p50, milliseconds.p95, milliseconds.p99, milliseconds.max].map(
        String,
      ),
      String(rate_limited),
      Object.entries(errors)
        .map(([code, count]) => `${count} × ${code}`)
        .join(', ') || '0',
    ],
  );
  const widths = COLUMNS.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at].length)));
  const line = (cells) =>
    cells
      .map((cell, at) =>
        at === 0 || at === cells.length - 1 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]),
      )
      .join('  ')
      .trimEnd();
  return [
    `${summary.requests} calls in ${summary.seconds} s, ${summary.requests_per_second} a second, by ${summary.bots.registered} bots of ${summary.bots.asked} with ${summary.users.reached} users of ${summary.users.asked}.`,
    `${summary.errors} errors. ${summary.rate_limited} calls were answered 429: the bots waited ${summary.waited_for_429_seconds} s in all, as Retry-After asks.`,
    ...Object.entries(summary.bots_by_requests_per_minute).map(
      ([limit, bots]) => `${bots} bots may make ${limit} requests a minute by their tier.`,
    ),
    '',
    ...[COLUMNS, ...rows].map(line),
    ...summary.notes.map((note) => `\n${note}`),
  ].join('\n');
}
