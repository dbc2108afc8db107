import { setting } from './setting';
import { bearerToken, fraction, oneOf, otlpEndpoint, otlpHeaders, text } from './setting-values';

/**
 * The settings of metrics, log and traces. The names of those for traces are OpenTelemetry's, and so are the defaults. Others
 * with its prefix may be set for other programs, and are no mistake.
 */
export const OBSERVATION = {
  metricsToken: setting(
    'METRICS_TOKEN',
    '',
    'Token for reading `/metrics`, 16 to 256 characters. Without one only callers on the same machine can read it',
    bearerToken,
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'Lowest level of log lines to write',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  logFormat: setting(
    'LOG_FORMAT',
    'auto',
    '`json`: one JSON object a line; `pretty`: lines for people; `auto`: `pretty` on a terminal unless `NODE_ENV=production`, else `json`',
    oneOf('auto', 'json', 'pretty'),
  ),
  tracesEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    '',
    'Where traces are sent: a collector that takes OTLP over HTTP as JSON, for example `http://127.0.0.1:4318`. Empty: there are no traces',
    otlpEndpoint,
  ),
  tracesHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    '',
    'Headers of the calls to that collector: `name=value,…`, values percent-encoded',
    otlpHeaders,
  ),
  tracesService: setting('OTEL_SERVICE_NAME', 'lethe', 'Name of this process in traces', text),
  tracesSampler: setting(
    'OTEL_TRACES_SAMPLER',
    'parentbased_always_on',
    'Which traces are recorded: all, none, or the part `OTEL_TRACES_SAMPLER_ARG`. A caller never decides, so `parentbased_` changes nothing',
    oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
  ),
  tracesSampled: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    '1',
    'Part of the traces that `traceidratio` records, from 0 to 1',
    fraction,
  ),
  tracesDisabled: setting(
    'OTEL_SDK_DISABLED',
    'false',
    '`true`: there are no traces, whatever else is set',
    (value) => value.toLowerCase() === 'true',
  ),
} as const;
