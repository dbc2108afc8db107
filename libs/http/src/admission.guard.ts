import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
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
