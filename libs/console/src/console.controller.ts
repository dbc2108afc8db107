import { Body, Controller, Delete, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { type LetheRequest, Public, scopesOf } from '@app/http';
import { ApiError } from '@app/kernel';
import { ConsoleSessions, isFromPage } from './console-sessions';
import { SignInDto, type SessionView } from './console.dto';

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
  ): Promise<SessionView> {
    requirePage(request);
    const begun = await this.sessions.begin(request, key);
    if (begun === undefined) throw new ApiError('unauthorized', 'The API key is not valid');
    response.setHeader('Set-Cookie', begun.cookie);
    return { bot_id: begun.caller.botId, scopes: scopesOf(begun.caller.scopes), expires_at: begun.expiresAt };
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
