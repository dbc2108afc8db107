import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ApiError, Degradations, DISK_LOW } from '@app/kernel';
import type { LetheRequest } from './request-context';
import { accessOf } from './scopes';

/** Runs the guard of {@link AdmittedBy} of a route. Guards of Nest's own decorator run after all global ones, and so after the body is read. */
@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(private readonly modules: ModuleRef) {}

  canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    const { admittedBy } = accessOf(context);
    if (admittedBy === undefined) return true;
    return this.modules.get(admittedBy, { strict: false }).canActivate(context);
  }
}

/** While the disk of the database is almost full, refuses requests that store more. The room that is left is kept for erasures. */
@Injectable()
export class DiskGuard implements CanActivate {
  constructor(@Inject(Degradations) private readonly degradations: Degradations) {}

  canActivate(context: ExecutionContext): boolean {
    if (!this.degradations.has(DISK_LOW)) return true;
    const { method } = context.switchToHttp().getRequest<LetheRequest>();
    if (['GET', 'HEAD', 'DELETE'].includes(method) || accessOf(context).onLowDisk) return true;
    throw new ApiError(
      'service_unavailable',
      'The disk of the database is almost full: what stores more is refused, and erasures and withdrawals are accepted; nothing was changed',
    );
  }
}
