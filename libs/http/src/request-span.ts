import type { EndedSpan } from '@app/kernel';
import type { LetheRequest } from './request-context';

/** The methods that OpenTelemetry knows. A caller chooses the text of any other one. */
const METHODS = /^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE)$/;

/** An id of Lethe's own form (RFC 9562). A caller can write an id of a user into any other one. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * The span of an answered request, named by its method and its declared route (OpenTelemetry, HTTP server spans). It has
 * neither the path nor the query nor the address of the caller. The caller names its parent only with a valid API key or
 * the token of the operator: anybody else could write into the traces of others.
 */
export function requestSpan(
  { method: given, context, headers }: LetheRequest,
  route: unknown,
  status: number,
  tookMs: number,
): EndedSpan {
  const isKnown = METHODS.test(given);
  const method = isKnown ? given : 'HTTP';
  const { caller, operator, id } = context;
  const parent = caller !== undefined || operator === 'known' ? headers['traceparent'] : undefined;
  return {
    name: typeof route === 'string' ? `${method} ${route}` : method,
    kind: 'server',
    tookMs,
    attributes: {
      'http.request.method': isKnown ? given : '_OTHER',
      'http.response.status_code': status,
      ...(typeof route === 'string' && { 'http.route': route }),
      ...(UUID.test(id) && { 'lethe.request_id': id }),
      ...(status >= 500 && { 'error.type': String(status) }),
    },
    ...(typeof parent === 'string' && { parent }),
  };
}
