import { integer, otlpEndpoint, otlpHeaders, setting } from './setting-values';

/** The settings of OpenTelemetry, by the names of its specification. Without an endpoint nothing is exported. */
export const TELEMETRY = {
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    '',
    'Where traces and metrics are sent by OTLP: the address of a collector, for example `http://127.0.0.1:4318`, to which `/v1/traces` and `/v1/metrics` are added. Empty: nothing is sent',
    otlpEndpoint,
  ),
  otlpProtocol: setting(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/json',
    'The form of what is sent there. With an endpoint only `http/json` is accepted',
    (value) => value,
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    '',
    'Headers for the collector, such as its key: `name=value,…`, percent-encoded',
    otlpHeaders,
  ),
  otelServiceName: setting(
    'OTEL_SERVICE_NAME',
    '',
    'The `service.name` of traces and metrics. Default: `lethe`',
    (value) => value,
  ),
  otelMetricIntervalMs: setting(
    'OTEL_METRIC_EXPORT_INTERVAL',
    '60000',
    'Milliseconds from one export of the metrics to the next',
    integer(1_000, 3_600_000),
  ),
} as const;
