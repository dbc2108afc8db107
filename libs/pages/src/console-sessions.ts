import { ApiKeyDirectory } from '@app/bots';
import { Keyring, UnreadableSecretError } from '@app/crypto';
import { type LetheRequest, Public, type Scope, scopesOf, Text } from '@app/http';
import { ApiError, Clock, type Config, CONFIG } from '@app/kernel';
import { Body, Controller, Delete, HttpCode, Inject, Injectable, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import { isSameOrigin } from './page-forms';

/** The longest session, in milliseconds. It also ends when its key ends. */
const SESSION_MS = 8 * 60 * 60 * 1000;
const COOKIE = 'lethe_console';
const CONTEXT = 'console/session';
/** The header of every request of the page. A foreign page cannot send it without a permission that no answer gives. */
const PAGE_HEADER = 'x-lethe-console';

interface Session {
  readonly key: string;
  readonly untilMs: number;
}

/** What the page of the console knows of its session. */
export interface SessionView {
  readonly bot_id: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
}

/**
 * Sessions of the console: an API key, encrypted in a cookie that no script can read and no other site can send. The server
 * keeps nothing, and the key is checked at every request, so that a session ends with its key.
 */
@Injectable()
export class ConsoleSessions {
  constructor(
    private readonly keyring: Keyring,
    private readonly directory: ApiKeyDirectory,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** A new session with its `Set-Cookie` header; undefined for a key that is not valid. */
  async begin(
    request: LetheRequest,
    key: string,
  ): Promise<{ readonly cookie: string; readonly session: SessionView } | undefined> {
    const known = await this.directory.identify(key);
    if (known === undefined) return undefined;
    const untilMs = this.clock.nowMs() + SESSION_MS;
    const sealed = this.keyring.encrypt(JSON.stringify({ key, untilMs } satisfies Session), CONTEXT);
    const { botId, scopes } = known.caller;
    const expiresAt = new Date(untilMs).toISOString();
    return {
      cookie: this.cookie(request, sealed, SESSION_MS / 1000),
      session: { bot_id: botId, scopes: scopesOf(scopes), expires_at: expiresAt },
    };
  }

  /** The `Set-Cookie` header that ends a session. */
  end(request: LetheRequest): string {
    return this.cookie(request, '', 0);
  }

  private cookie({ secure }: LetheRequest, value: string, seconds: number): string {
    const isSecure = secure || this.config.publicUrl?.startsWith('https:') === true;
    const flags = `Path=/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
    return `${COOKIE}=${value}; ${flags}${isSecure ? '; Secure' : ''}`;
  }

  /** The API key of a request from the page of the console; undefined without a session that is in force. */
  keyOf(request: LetheRequest): string | undefined {
    const sealed = isFromPage(request) ? cookieOf(request.headers.cookie) : undefined;
    const session = sealed === undefined ? undefined : this.opened(sealed);
    return session === undefined || session.untilMs <= this.clock.nowMs() ? undefined : session.key;
  }

  private opened(sealed: string): Session | undefined {
    try {
      return JSON.parse(this.keyring.decrypt(sealed, CONTEXT)) as Session;
    } catch (error) {
      if (error instanceof UnreadableSecretError) return undefined;
      throw error;
    }
  }
}

/** Whether the page of the console of this origin has sent a request. */
export function isFromPage({ headers }: LetheRequest): boolean {
  return headers[PAGE_HEADER] === '1' && isSameOrigin(headers);
}

/** Undefined when the header has the name twice: a sibling of the site can set a second cookie, which browsers may send first. */
function cookieOf(header = ''): string | undefined {
  const found = header.split(';').flatMap((part) => {
    const [name, value] = part.trim().split('=');
    return name === COOKIE && value ? [value] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

const CONSOLE = '/console';
const INTERFACE = '/console/api/';

/**
 * Turns `/console/api/…` of a session into `/api/…` with its API key, before anything looks at either: scopes and every rule
 * of the interface apply as to a call of the bot. The sessions of a bot have a limit of their own. A request without a session
 * has no key.
 */
export function consoleGateway(sessions: ConsoleSessions, limit: number) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    if (request.url.startsWith(INTERFACE)) {
      const key = sessions.keyOf(request);
      delete request.headers.authorization;
      if (key !== undefined) {
        request.headers.authorization = `Bearer ${key}`;
        request.context.consoleLimit = limit;
      }
      request.url = request.url.slice(CONSOLE.length);
    }
    next();
  };
}

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
