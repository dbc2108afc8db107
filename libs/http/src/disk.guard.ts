import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError, Degradations, DISK_LOW } from '@app/kernel';
import type { LetheRequest } from './request-context';

const ON_LOW_DISK = 'lethe:on-low-disk';

/**
 * Marks a POST that is accepted while the disk is almost full: it erases, withdraws or reads. A few others cannot wait and
 * store very little.
 */
export const OnLowDisk = (): MethodDecorator => SetMetadata(ON_LOW_DISK, true);

/** While the disk of the database is almost full, refuses requests that store more. The room that is left is kept for erasures. */
@Injectable()
export class DiskGuard implements CanActivate {
  constructor(
    @Inject(Degradations) private readonly degradations: Degradations,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (!this.degradations.has(DISK_LOW)) return true;
    const { method } = context.switchToHttp().getRequest<LetheRequest>();
    if (['GET', 'HEAD', 'DELETE'].includes(method)) return true;
    if (this.reflector.get<boolean | undefined>(ON_LOW_DISK, context.getHandler()) === true) return true;
    throw new ApiError(
      'service_unavailable',
      'The disk of the database is almost full: what stores more is refused, and erasures and withdrawals are accepted; nothing was changed',
    );
  }
}
