import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { IDEMPOTENT_ROUTE_EXTENSION, type LetheRequest } from '@app/http';
import type { Claim } from './claim';
import { type ClaimOwner, Claims } from './claims';

@Injectable()
class ClaimPipe implements PipeTransform<ClaimedRequest, Claim> {
  constructor(private readonly claims: Claims) {}

  transform({ request, of }: ClaimedRequest): Claim {
    return this.claims.of(request, of);
  }
}

interface ClaimedRequest {
  readonly request: LetheRequest;
  readonly of: ClaimOwner;
}

const RequestOfClaim = createParamDecorator((of: ClaimOwner, context: ExecutionContext): ClaimedRequest => ({
  request: context.switchToHttp().getRequest<LetheRequest>(),
  of,
}));

/**
 * The {@link Claim} of the request, on a POST that takes an `Idempotency-Key`. It documents the header too. An answer that
 * grants what the calling API key may do is claimed for this `key`, else another one would get it by repeating the request.
 */
export function Claimed(of: ClaimOwner = 'bot'): ParameterDecorator {
  return (controller, name, index) => {
    RequestOfClaim(of, ClaimPipe)(controller, name, index);
    if (name === undefined) return;
    const route = Object.getOwnPropertyDescriptor(controller, name) as PropertyDescriptor;
    ApiExtension(IDEMPOTENT_ROUTE_EXTENSION, true)(controller, name, route);
  };
}
