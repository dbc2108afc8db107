import type { LabelOf, Metrics } from './metrics';

/** The reports of a UnitOfWork while it works. A call is cheap and never throws. */
export interface UnitOfWorkObserver {
  /** A commit made `units` units durable and took `durationMs` milliseconds. */
  readonly committed: (units: number, durationMs: number) => void;
  /** A unit is run again. */
  readonly retried: (reason: LabelOf<'databaseUnitsRetried'>) => void;
  /** A read that a standby may serve was served. */
  readonly readAnywhere: (server: LabelOf<'databaseStandbyReads'>) => void;
}

/** The sizes that a reading of the metrics gets from a UnitOfWork. */
export interface UnitOfWorkSizes {
  readonly unitsWaiting: () => number;
  /** Only for an engine with a pool. */
  readonly pool?: () => {
    readonly open: number;
    readonly idle: number;
    readonly waiting: number;
    readonly max: number;
  };
}

/** Registers the sizes and returns the observer. */
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
    readAnywhere: (server) => metrics.count('databaseStandbyReads', server),
  };
}
