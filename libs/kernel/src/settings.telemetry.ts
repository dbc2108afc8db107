import { integer, isDecodable, setting } from './setting-values';

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
    'The protocol of the exports. Lethe supports `http/json` only; with an endpoint any other value stops the start',
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

/** The base address of a collector; empty for none. */
function otlpEndpoint(value: string): string | undefined {
  if (value === '') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === '';
  if (!isBase || url.username + url.password !== '')
    throw new Error(
      'a URL with http: or https: and without user, query and fragment, for example http://127.0.0.1:4318; a key of the collector is written into OTEL_EXPORTER_OTLP_HEADERS',
    );
  return value;
}

/** A pair once it is decoded: the token of a name, and a value that a header can carry. */
const HEADER_PAIR = /^\s*[\w!#$%&'*+.^`|~-]+\s*=[\x20-\x7e\x80-\xff]*$/;

/**
 * `name=value,…`, percent-encoded as in W3C Baggage; empty for none. The SDK would cut a value at a `;`, and each export
 * would fail with a value that no header can carry. The error message never holds a value.
 */
function otlpHeaders(value: string): string {
  const isPair = (part: string): boolean =>
    !part.includes(';') && isDecodable(part) && HEADER_PAIR.test(decodeURIComponent(part));
  if (value !== '' && !value.split(',').every(isPair))
    throw new Error('name=value pairs after commas, percent-encoded, or empty');
  return value;
}
