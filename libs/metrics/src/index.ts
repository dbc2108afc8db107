export { type MetricDefinition, METRICS } from './metric.definitions';
export { metricsEndpoint } from './metrics.endpoint';
export { type LabelOf, Metrics, NO_METRICS, observeUnitOfWork, type UnitOfWorkSizes } from './metrics';
export { PrometheusMetrics } from './prometheus.metrics';
