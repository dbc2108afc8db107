import {
  All,
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  ExecutionContext,
  RequestMethod,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { ApiExcludeEndpoint, ApiExtension } from '@nestjs/swagger';
import { ApiError, OwnError } from '@app/kernel';
import { Caller, LetheRequest } from './request-context';

/** What an API key can allow. The bit of a scope is its place in this list, and is stored with the key. */
export const SCOPES = ['read', 'write', 'erase', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const ALL_SCOPES = 2 ** SCOPES.length - 1;

/** The bits of several scopes. */
export function scopeBits(scopes: readonly Scope[]): number {
  return scopes.reduce((bits, scope) => bits | (1 << SCOPES.indexOf(scope)), 0);
}

/** The scopes of some bits, in the order of {@link SCOPES}. */
export function scopesOf(bits: number): Scope[] {
  return SCOPES.filter((_, at) => (bits & (1 << at)) !== 0);
}

/** Marks a {@link Public} route, also in the documentation. */
export const PUBLIC_ROUTE = 'x-lethe-public';

/** Opens a route to callers without an API key; every other route is closed. */
export const Public = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(PUBLIC_ROUTE, true), ApiExtension(PUBLIC_ROUTE, true));

/** Marks a {@link ForOperator} route, also in the documentation. */
export const OPERATOR_ROUTE = 'x-lethe-operator';

/** Opens a route to the operator's token alone: no API key of a bot is accepted there. */
export const ForOperator = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(OPERATOR_ROUTE, true), ApiExtension(OPERATOR_ROUTE, true));

const NO_ROUTE = 'x-lethe-no-route';

/**
 * Makes every method that has no route before this one unknown, as on an unknown path: a path with a parameter would take
 * the last part of these paths for an id. The marked method is never called.
 */
export const NoFurtherMethod = (...paths: string[]): MethodDecorator =>
  applyDecorators(SetMetadata(NO_ROUTE, true), All(paths), ApiExcludeEndpoint());

/** The authenticated bot, on every route that is not `@Public()`. */
export const CurrentBot = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<LetheRequest>().context;
  if (caller === undefined) throw new OwnError('CurrentBot is used on a public route');
  return caller;
});

const SCOPES_OF_ROUTE = 'x-lethe-scopes';
const EVEN_WHILE = 'x-lethe-even-while';

/**
 * The scope that a key needs for a route, or for all routes of a controller; one of several scopes suffices. A GET
 * without this decorator needs `read`, and every other method `write`.
 */
export const RequiresScope = (...scopes: readonly [Scope, ...Scope[]]): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(SCOPES_OF_ROUTE, scopes), ApiExtension(SCOPES_OF_ROUTE, scopes));

/** What closes routes for a time: the operator has suspended the bot, or the disk of the database is almost full. */
type Closure = 'suspended' | 'low disk';

/**
 * Opens a route while others are closed. To a suspended bot those of the scopes `read` and `erase` are open without it. On a
 * low disk GET and DELETE are: a POST with it erases, withdraws or reads, or it cannot wait and stores very little.
 */
export const EvenWhile = (...closures: readonly [Closure, ...Closure[]]): MethodDecorator =>
  applyDecorators(SetMetadata(EVEN_WHILE, closures), ApiExtension(EVEN_WHILE, closures));

const ADMITTED_BY = 'lethe:admitted-by';

/** A further guard of a route, or of all routes of a controller. It runs before the body is read, and looks at no body. */
export const AdmittedBy = (guard: Type<CanActivate>): ClassDecorator & MethodDecorator =>
  SetMetadata(ADMITTED_BY, guard);

/** Who may call a route. */
interface RouteAccess {
  readonly isUnknown: boolean;
  readonly isPublic: boolean;
  /** It is for the operator, and for no bot. */
  readonly isOfOperator: boolean;
  /** One of them is needed. */
  readonly scopes: readonly Scope[];
  readonly bits: number;
  readonly whileSuspended: boolean;
  readonly onLowDisk: boolean;
  readonly admittedBy: Type<CanActivate> | undefined;
}

function accessWith(isGet: boolean, declared?: readonly Scope[], evenWhile: readonly Closure[] = []) {
  const scopes = declared ?? [isGet ? 'read' : 'write'];
  const whileSuspended =
    evenWhile.includes('suspended') || scopes.includes('read') || scopes.includes('erase');
  const onLowDisk = evenWhile.includes('low disk');
  return { scopes, bits: scopeBits(scopes), whileSuspended, onLowDisk } satisfies Partial<RouteAccess>;
}

/** Every route is read once. Controllers can share an inherited method, so their routes are kept apart. */
const known = new WeakMap<object, Map<object, RouteAccess>>();

/** Who may call the route of a request. */
export function accessOf(context: ExecutionContext): RouteAccess {
  const present = known.get(context.getClass())?.get(context.getHandler());
  return present ?? readAccess(context);
}

function readAccess(context: ExecutionContext): RouteAccess {
  const [controller, handler] = [context.getClass(), context.getHandler()];
  const declared = <T>(key: string): T | undefined =>
    (Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller)) as T | undefined;
  // The method of the route, not of the request: a route of all methods changes something.
  const isGet = declared<RequestMethod>(METHOD_METADATA) === RequestMethod.GET;
  const access = {
    isUnknown: declared<boolean>(NO_ROUTE) === true,
    isPublic: declared<boolean>(PUBLIC_ROUTE) === true,
    isOfOperator: declared<boolean>(OPERATOR_ROUTE) === true,
    admittedBy: declared<Type<CanActivate>>(ADMITTED_BY),
    ...accessWith(isGet, declared(SCOPES_OF_ROUTE), declared(EVEN_WHILE)),
  };
  const routes = known.get(controller) ?? new Map<object, RouteAccess>();
  known.set(controller, routes.set(handler, access));
  return access;
}

/** @throws ApiError 403 for a key without the scope of the route, and for a suspended bot on a route that changes. */
export function requireAccess({ bits, scopes, whileSuspended }: RouteAccess, caller: Caller): void {
  if ((caller.scopes & bits) === 0) throw insufficientScope(scopes[0] as Scope);
  if (caller.isSuspended && !whileSuspended)
    throw new ApiError(
      'suspended',
      'The operator has suspended this bot: it can read, export, erase, record withdrawals, objections and restrictions, make privacy links, and answer the tasks of its holders; nothing else works',
    );
}

export function insufficientScope(required: Scope): ApiError {
  return new ApiError('insufficient_scope', `The API key lacks the scope ${required}`, { required });
}

/** An OpenAPI operation with what the decorators of its route declare. */
export interface ScopedOperation {
  [SCOPES_OF_ROUTE]?: readonly Scope[];
  [EVEN_WHILE]?: readonly Closure[];
}

/** Takes the declarations out of an operation. */
export function documentedAccess(operation: ScopedOperation, method: string) {
  const { [SCOPES_OF_ROUTE]: declared, [EVEN_WHILE]: evenWhile } = operation;
  delete operation[SCOPES_OF_ROUTE];
  delete operation[EVEN_WHILE];
  return accessWith(method === 'get', declared, evenWhile);
}
