import { applyDecorators, createParamDecorator, ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { OwnError } from '@app/kernel';
import { Caller, LetheRequest } from './request-context';

export const PUBLIC_ROUTE = 'lethe:public';

/** Marks a {@link Public} route in the documentation. */
export const PUBLIC_ROUTE_EXTENSION = 'x-lethe-public';

/** Opens a route to callers without an API key; every other route is closed. */
export const Public = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(PUBLIC_ROUTE, true), ApiExtension(PUBLIC_ROUTE_EXTENSION, true));

export const OPERATOR_ROUTE = 'lethe:operator';

/** Marks a {@link ForOperator} route in the documentation. */
export const OPERATOR_ROUTE_EXTENSION = 'x-lethe-operator';

/** Opens a route to the operator's token alone: no API key of a bot is accepted there. */
export const ForOperator = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(OPERATOR_ROUTE, true), ApiExtension(OPERATOR_ROUTE_EXTENSION, true));

/** The authenticated bot, on every route that is not `@Public()`. */
export const CurrentBot = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<LetheRequest>().context;
  if (caller === undefined) throw new OwnError('CurrentBot is used on a public route');
  return caller;
});
