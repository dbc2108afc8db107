import type { LabelOf, Metrics } from './metrics';

/** What a UnitOfWork tells of itself while it works; each call is cheap and never throws. */
export interface UnitOfWorkObserver {
  /** A commit that made `units` units durable has taken `durationMs`. */
  readonly committed: (units: number, durationMs: number) => void;
  /** A unit is run again. */
  readonly retried: (reason: LabelOf<'databaseUnitsRetried'>) => void;
}

/** What a UnitOfWork is asked for when somebody reads the metrics. */
export interface UnitOfWorkSizes {
  readonly unitsWaiting: () => number;
  /** Where there is a pool. */
  readonly pool?: () => {
    readonly open: number;
    readonly idle: number;
    readonly waiting: number;
    readonly max: number;
  };
}

/** Registers the sizes and answers whom to tell. */
export function observeUnitOfWork(
  metrics: Metrics,
  { unitsWaiting, pool }: UnitOfWorkSizes,
): UnitOfWorkObserver {
  metrics.gauge('databaseUnitsWaiting', unitsWaiting);
  if (pool !== undefined) {
    metrics.gauge('databasePoolConnections', () => pool().open);
    metrics.gauge('databasePoolMax', () => pool().max);
    metrics.gauge('databasePoolIdle', () => pool().idle);
    metrics.gauge('databasePoolWaiting', () => pool().waiting);
  }
  return {
    committed: (units, durationMs) => {
      metrics.observe('databaseCommitUnits', units);
      metrics.observe('databaseCommitDuration', durationMs / 1000);
    },
    retried: (reason) => metrics.count('databaseUnitsRetried', reason),
  };
}
