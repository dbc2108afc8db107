export { HttpMeter } from './http.meter';
export { type MetricDefinition, METRICS } from './metric.definitions';
export { metricsEndpoint } from './metrics.endpoint';
export { type LabelOf, Metrics, NO_METRICS } from './metrics';
export { PrometheusMetrics } from './prometheus.metrics';
export { observeUnitOfWork, type UnitOfWorkSizes } from './unit-of-work.observer';
