import { Body, Controller, Delete, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { type LetheRequest, Public, scopesOf } from '@app/http';
import { ApiError } from '@app/kernel';
import { ConsoleSessions, isFromPage } from './console-sessions';
import { type OperatorSessionView, type SessionView, SignInDto } from './console.dto';

/** The session of the console, outside the prefix of the interface. */
@ApiExcludeController()
@Public()
@Controller('console/session')
export class ConsoleController {
  constructor(private readonly sessions: ConsoleSessions) {}

  @Post()
  @HttpCode(200)
  async begin(
    @Req() request: LetheRequest,
    @Res({ passthrough: true }) response: Response,
    @Body() { key }: SignInDto,
  ): Promise<SessionView | OperatorSessionView> {
    requirePage(request);
    const begun = await this.sessions.begin(request, key);
    if (begun === undefined) throw this.refusal();
    response.setHeader('Set-Cookie', begun.cookie);
    const { of, expiresAt } = begun;
    if (of === 'operator') return { operator: true, expires_at: expiresAt };
    return { bot_id: of.botId, scopes: scopesOf(of.scopes), expires_at: expiresAt };
  }

  /** The page says whether there is an operator's part. */
  private refusal(): ApiError {
    const message = 'This is neither a valid API key nor the token of the operator';
    return new ApiError('unauthorized', message, { operator: this.sessions.hasOperator ? 'on' : 'off' });
  }

  @Delete()
  end(
    @Req() request: LetheRequest,
    @Res({ passthrough: true }) response: Response,
  ): { readonly ended: true } {
    requirePage(request);
    response.setHeader('Set-Cookie', this.sessions.end(request));
    return { ended: true };
  }
}

function requirePage(request: LetheRequest): void {
  if (isFromPage(request)) return;
  throw new ApiError('unauthorized', 'Only the page /console of this service can begin and end its sessions');
}
