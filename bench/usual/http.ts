import { createHash } from 'node:crypto';
import {
  CallHandler,
  CanActivate,
  createParamDecorator,
  ExecutionContext,
  Injectable,
  NestInterceptor,
  SetMetadata,
  UnauthorizedException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { map, type Observable } from 'rxjs';
import { Repository } from 'typeorm';
import { Bot } from './entities';

type BotRequest = Request & { bot: Bot };

export const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

export const Public = () => SetMetadata('public', true);

export const CurrentBot = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<BotRequest>().bot,
);

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @InjectRepository(Bot) private readonly bots: Repository<Bot>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get<boolean>('public', context.getHandler())) return true;
    const request = context.switchToHttp().getRequest<BotRequest>();
    const [scheme, key] = request.headers.authorization?.split(' ') ?? [];
    if (scheme !== 'Bearer' || key === undefined) throw new UnauthorizedException();
    const bot = await this.bots.findOneBy({ apiKeyHash: hashOf(key) });
    if (bot === null) throw new UnauthorizedException();
    request.bot = bot;
    return true;
  }
}

@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ success: true, data })));
  }
}
