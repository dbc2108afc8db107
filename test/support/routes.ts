import document from '../../openapi.json';
import { ownPaths } from './further-modules';

/** Probes are neither counted nor limited. */
export const UNCOUNTED_PATHS = /^\/health\/(live|ready)$/;

/** Paths that also answer a text document. */
export const DOCUMENT_PATHS = /\/(processing-record|review-dossier)(\?|$)/;

const ID = '018f2f00-0000-7000-8000-000000000000';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

/** One operation of openapi.json, with a path that its rules accept. */
export interface Route {
  readonly method: (typeof METHODS)[number];
  /** Below the prefix. */
  readonly path: string;
  /** The scopes of which a key needs one. */
  readonly scopes: readonly string[];
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: { readonly example?: string; readonly format?: string };
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: object;
  readonly security?: readonly {
    readonly apiKey?: readonly string[];
    readonly operatorToken?: readonly string[];
  }[];
}

function valueOf({ name, schema: { example, format } }: Parameter): string {
  if (format === 'uuid') return ID;
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  return example ?? name;
}

function pathOf(template: string, parameters: readonly Parameter[]): string {
  const query = parameters.filter((one) => one.in === 'query' && one.required);
  const path = parameters
    .filter((one) => one.in === 'path')
    .reduce((filled, one) => filled.replace(`{${one.name}}`, valueOf(one)), template);
  return path + query.map((one, at) => `${at > 0 ? '&' : '?'}${one.name}=${valueOf(one)}`).join('');
}

const prefix = '/api/v1';
const paths = ownPaths(document.paths) as unknown as Record<string, Record<string, Operation>>;

const ALL = Object.entries(paths).flatMap(([template, item]) =>
  METHODS.flatMap((method) => {
    const operation = item[method.toLowerCase()];
    if (operation === undefined) return [];
    const path = pathOf(template.slice(prefix.length), operation.parameters ?? []);
    const scopes = (operation.security ?? []).flatMap(({ apiKey = [] }) => apiKey);
    return [{ operation, route: { method, path, scopes } satisfies Route }];
  }),
);

/** Every route that needs an API key. */
export const CLOSED_ROUTES: readonly Route[] = ALL.filter(({ operation }) =>
  operation.security?.some(({ apiKey }) => apiKey !== undefined),
).map(({ route }) => route);

/** Every route that needs the token of the operator. */
export const OPERATOR_ROUTES: readonly Route[] = ALL.filter(({ operation }) =>
  operation.security?.some(({ operatorToken }) => operatorToken !== undefined),
).map(({ route }) => route);

/** The routes of bots that take a JSON body. */
export const BODY_ROUTES: readonly Route[] = ALL.filter(
  ({ operation, route }) => operation.requestBody !== undefined && !OPERATOR_ROUTES.includes(route),
).map(({ route }) => route);

/** The routes of bots that read a body and take nothing from it. */
export const BODYLESS_ROUTES: readonly Route[] = CLOSED_ROUTES.filter(
  (route) => ['POST', 'PUT'].includes(route.method) && !BODY_ROUTES.includes(route),
);
