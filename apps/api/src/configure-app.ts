import { randomUUID } from 'node:crypto';
import type { NextFunction, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiKeyDirectory, identify, KeyUses } from '@app/bots';
import { consoleGateway, ConsoleSessions, PRIVACY_PAGES } from '@app/pages';
import { PRIVACY_NOTICE } from '@app/reports';
import {
  countRate,
  hostFault,
  identifyOperator,
  type LetheHttpAdapter,
  type LetheRequest,
  RateLimitStore,
  RequestContext,
} from '@app/http';
import { type Config, CONFIG, LOGGER, metricsEndpoint, PrometheusMetrics, Spans } from '@app/kernel';
import type { Logger } from 'pino';
import { serveConsole, serveDocs } from './docs';
import { KEY_SET_PATH, WEBHOOK_KEYS_PATH } from './keys.controller';

const API_PREFIX = 'api/v1';

const PROBES = ['health/live', 'health/ready'];

/** Probes are neither counted nor limited. */
const UNCOUNTED = new Set(PROBES.map((probe) => `/${probe}`));

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']);

/** A request id of the caller is kept when it matches this pattern. The log has it: it contains no id of a user or guild. */
const REQUEST_ID = /^(?!.*\d{17})[A-Za-z0-9._-]{1,64}$/;

/** The middleware of every request before its route: request id, authentication, rate. */
export function configureApp(app: NestExpressApplication): void {
  const config = app.get<Config>(CONFIG);
  app.setGlobalPrefix(API_PREFIX, {
    exclude: [
      ...PROBES,
      ...[KEY_SET_PATH, WEBHOOK_KEYS_PATH],
      ...['console/session', ...PRIVACY_PAGES, PRIVACY_NOTICE],
    ],
  });
  if (config.trustProxy > 0) app.set('trust proxy', config.trustProxy);
  const counting = inOrder(
    identify(app.get(ApiKeyDirectory), app.get(KeyUses)),
    ...(config.operatorToken === '' ? [] : [identifyOperator(config.operatorToken)]),
    countRate(app.get(RateLimitStore), config),
  );
  const metrics = app.get(PrometheusMetrics);
  app.use(
    inOrder(
      openContext(app.get<Logger>(LOGGER), metrics, app.get(Spans)),
      consoleGateway(app.get(ConsoleSessions), config.consoleLimit),
      atServedHost(config, counting),
      metricsEndpoint(metrics, config.metricsToken),
      counted(counting),
    ),
  );
  const adapter = app.getHttpAdapter() as unknown as LetheHttpAdapter;
  metrics.gauge('httpConnections', () => adapter.connections);
  serveDocs(app);
  serveConsole(app);
}

type Middleware = (request: LetheRequest, response: Response, next: NextFunction) => void;

/** Joins several middlewares into one: a step of Express from one to the next takes longer than each of them. */
function inOrder(first: Middleware, ...others: Middleware[]): Middleware {
  const [second, ...rest] = others;
  if (second === undefined) return first;
  const then = inOrder(second, ...rest);
  return (request, response, next) => {
    first(request, response, (error?: unknown) => {
      if (error !== undefined) return next(error);
      try {
        then(request, response, next);
      } catch (thrown) {
        next(thrown);
      }
    });
  };
}

/** The headers by which a caller chooses a form. Their parsers take more than linear time. */
const NEGOTIATED = ['accept', 'accept-language'] as const;
/** The number of their characters that are read. Browsers send less than two hundred. */
const NEGOTIATED_MAX = 1_000;

function openContext(logger: Logger, metrics: PrometheusMetrics, spans: Spans): Middleware {
  return (request, _response, next) => {
    const given = request.headers['x-request-id'];
    const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    for (const name of NEGOTIATED) {
      const text = request.headers[name];
      if (text !== undefined && text.length > NEGOTIATED_MAX)
        request.headers[name] = text.slice(0, NEGOTIATED_MAX);
    }
    request.context = new RequestContext(id, performance.now(), logger, metrics, spans);
    // Express would answer OPTIONS outside the envelope. No route has other methods.
    if (!METHODS.has(request.method)) request.url = '/';
    next();
  };
}

/** Refuses names that are not served, and two names at once, before anything else is answered. The refusal is counted. */
function atServedHost(config: Config, counting: Middleware): Middleware {
  const faultOf = hostFault(config);
  return (request, response, next) => {
    const fault = faultOf(request);
    if (fault === undefined) next();
    else counting(request, response, (error?: unknown) => next(error ?? fault));
  };
}

/** Runs `counting` for every request but the probes. */
function counted(counting: Middleware): Middleware {
  return (request, response, next) => {
    if (UNCOUNTED.has(request.path)) next();
    else counting(request, response, next);
  };
}
