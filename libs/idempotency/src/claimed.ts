import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { IDEMPOTENT_ROUTE_EXTENSION, type LetheRequest } from '@app/http';
import type { Claim } from './claim';
import { Claims } from './claims';

@Injectable()
class ClaimPipe implements PipeTransform<LetheRequest, Claim> {
  constructor(private readonly claims: Claims) {}

  transform(request: LetheRequest): Claim {
    return this.claims.of(request);
  }
}

const RequestOfClaim = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<LetheRequest>(),
);

/** The {@link Claim} of the request, on a POST that takes an `Idempotency-Key`. It documents the header too. */
export function Claimed(): ParameterDecorator {
  return (controller, name, index) => {
    RequestOfClaim(ClaimPipe)(controller, name, index);
    if (name === undefined) return;
    const route = Object.getOwnPropertyDescriptor(controller, name) as PropertyDescriptor;
    ApiExtension(IDEMPOTENT_ROUTE_EXTENSION, true)(controller, name, route);
  };
}
