import { METRICS } from './metric.definitions';

type Table = typeof METRICS;

/** The metrics of one type that modules feed; the others are made by what reads them. */
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

/** The values that the label of a metric can have. */
export type LabelOf<N extends keyof Table> = Table[N] extends {
  label: { values: readonly (infer V extends string)[] };
}
  ? V
  : never;

/** What is said of one act: the label's value, where the counter has one, and how often, if not once. */
export type Counted<N extends CounterName> = [LabelOf<N>] extends [never]
  ? [times?: number]
  : [label: LabelOf<N>, times?: number];

/** One number, or one of each value of the label. */
export type Reading<N extends GaugeName> = [LabelOf<N>] extends [never]
  ? number
  : Readonly<Record<LabelOf<N>, number>>;

/**
 * Where modules tell what they do. Names and labels are those of {@link METRICS} and nothing else, so that no id, key or
 * value can become one. It never throws, and never makes anybody wait.
 */
export abstract class Metrics {
  /** Something happened. */
  abstract count<N extends CounterName>(name: N, ...counted: Counted<N>): void;

  /** A size or a duration, in the metric's unit. */
  abstract observe(name: HistogramName, value: number): void;

  /** From now on `collect` is asked whenever somebody reads the metrics; a later call takes its place. */
  abstract gauge<N extends GaugeName>(name: N, collect: () => Reading<N> | Promise<Reading<N>>): void;
}

/** Forgets everything: for a library that is used without metrics. */
export class NoMetrics extends Metrics {
  count(): void {}
  observe(): void {}
  gauge(): void {}
}

export const NO_METRICS: Metrics = new NoMetrics();
