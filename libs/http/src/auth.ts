import { createParamDecorator, CustomDecorator, ExecutionContext, SetMetadata } from '@nestjs/common';
import { Caller, LetheRequest } from './request-context';

export const PUBLIC_ROUTE = 'lethe:public';

/** Opens a route to callers without an API key; every other route is closed. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC_ROUTE, true);

/** The authenticated bot; only on routes that are not `@Public()`. */
export const CurrentBot = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<LetheRequest>().context;
  if (caller === undefined) throw new Error('CurrentBot is used on a public route');
  return caller;
});
