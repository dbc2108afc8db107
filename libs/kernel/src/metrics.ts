import { METRICS } from './metric.definitions';

type Table = typeof METRICS;

/** The names of one type of metric that modules feed. PrometheusMetrics itself feeds the others. */
type NamesOf<Type extends string> = {
  [N in keyof Table]: Table[N] extends { type: Type }
    ? Table[N] extends { labels: unknown }
      ? never
      : N
    : never;
}[keyof Table];

export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** The values of a metric's label. */
export type LabelOf<N extends keyof Table> = Table[N] extends {
  label: { values: readonly (infer V extends string)[] };
}
  ? V
  : never;

/** The arguments of a count: the value of the label, for a counter with one, and the number of events, by default 1. */
export type Counted<N extends CounterName> = [LabelOf<N>] extends [never]
  ? [times?: number]
  : [label: LabelOf<N>, times?: number];

/** One number, or one number for each value of the label. */
export type Reading<N extends GaugeName> = [LabelOf<N>] extends [never]
  ? number
  : Readonly<Record<LabelOf<N>, number>>;

/**
 * The place where modules report events and sizes. Names and labels come from {@link METRICS} alone, so that no id,
 * key or value can become a label. No method throws or blocks.
 */
export abstract class Metrics {
  /** Counts an event. */
  abstract count<N extends CounterName>(name: N, ...counted: Counted<N>): void;

  /** Records a size or a duration, in the unit of the metric. */
  abstract observe(name: HistogramName, value: number): void;

  /** Registers `collect`, which is called at every reading of the metrics. A later call replaces the function. */
  abstract gauge<N extends GaugeName>(name: N, collect: () => Reading<N> | Promise<Reading<N>>): void;
}

/** Records nothing: for a library that is used without metrics. */
export const NO_METRICS: Metrics = { count() {}, observe() {}, gauge() {} };
