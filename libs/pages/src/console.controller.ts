import { Body, Controller, Delete, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type LetheRequest, Public, Text } from '@app/http';
import { ApiError } from '@app/kernel';
import type { Response } from 'express';
import { ConsoleSessions, isFromPage, type SessionView } from './console-sessions';

/** Characters of an API key at most; all have fewer. */
const KEY_LENGTH_MAX = 200;

class SignInDto {
  @Text(KEY_LENGTH_MAX) key: string;
}

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
    return begun.session;
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
