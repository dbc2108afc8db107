import { hash } from 'node:crypto';
import { ApiKeyDirectory } from '@app/bots';
import { ifReadable, Keyring } from '@app/crypto';
import { AdmittedBy, type LetheRequest, Public, type Scope, scopesOf, Text } from '@app/http';
import { ApiError, Clock, type Config, CONFIG, sameToken } from '@app/kernel';
import {
  Body,
  type CanActivate,
  Controller,
  Delete,
  type ExecutionContext,
  HttpCode,
  Inject,
  Injectable,
  Post,
  Req,
  Res,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import { isSameOrigin } from './page-forms';

/** The longest session, in milliseconds. It also ends when its key ends. */
const SESSION_MS = 8 * 60 * 60 * 1000;
const COOKIE = 'lethe_console';
const CONTEXT = 'console/session';
/** A text of this context is never opened as a session of a bot, and the reverse. */
const OPERATOR_CONTEXT = 'console/operator';
/** The beginning of the cookie of an operator. */
const OF_OPERATOR = 'operator.';
/** The header of every request of the page. A foreign page cannot send it without a permission that no answer gives. */
const PAGE_HEADER = 'x-lethe-console';
/** The header in which a page names its bot, or the operator. */
const BOT_HEADER = 'x-lethe-bot';
const OPERATOR = 'operator';

interface Session {
  readonly key: string;
  readonly untilMs: number;
  /** Absent in a session that began before it was kept. */
  readonly botId?: string;
}

/** It has a digest of the token alone, and no longer fits when the token changes. */
interface OperatorSession {
  readonly token: string;
  readonly untilMs: number;
}

/** What the page of the console knows of its session. */
interface SessionView {
  readonly bot_id: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
  /** Days from the withdrawal of a consent until what rested on it is erased; null where it never is. */
  readonly revoked_data_grace_days: number | null;
  /** `PUBLIC_URL`; null where it is not set. */
  readonly public_url: string | null;
}

/** The same of a session of the operator. */
interface OperatorSessionView {
  readonly operator: true;
  readonly expires_at: string;
}

/** A session that begins, with its `Set-Cookie` header. */
interface BegunSession {
  readonly cookie: string;
  readonly session: SessionView | OperatorSessionView;
}

/**
 * Sessions of the console: an API key, or the right of the operator, encrypted in a cookie that no script can read and no
 * other site can send. The server keeps nothing, and the key is checked at every request, so that a session ends with it.
 */
@Injectable()
export class ConsoleSessions {
  private readonly isOperator = sameToken(this.config.operatorToken);
  private readonly tokenDigest = hash('sha256', this.config.operatorToken, 'base64url');

  constructor(
    private readonly keyring: Keyring,
    private readonly directory: ApiKeyDirectory,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Undefined for a text that is neither a valid API key nor the token of the operator. */
  async begin(request: LetheRequest, key: string): Promise<BegunSession | undefined> {
    const untilMs = this.clock.nowMs() + SESSION_MS;
    const expiresAt = new Date(untilMs).toISOString();
    const known = await this.directory.identify(key);
    if (known === undefined) {
      if (this.config.operatorToken === '' || !this.isOperator(key)) return undefined;
      const session: OperatorSession = { token: this.tokenDigest, untilMs };
      const sealed = OF_OPERATOR + this.keyring.encrypt(JSON.stringify(session), OPERATOR_CONTEXT);
      const cookie = this.cookie(request, sealed, SESSION_MS / 1000);
      return { cookie, session: { operator: true, expires_at: expiresAt } };
    }
    const { botId, scopes } = known.caller;
    const sealed = this.keyring.encrypt(JSON.stringify({ key, untilMs, botId } satisfies Session), CONTEXT);
    return {
      cookie: this.cookie(request, sealed, SESSION_MS / 1000),
      session: {
        bot_id: botId,
        scopes: scopesOf(scopes),
        expires_at: expiresAt,
        revoked_data_grace_days: this.config.revokedDataGraceDays ?? null,
        public_url: this.config.publicUrl ?? null,
      },
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

  /** The API key or the token of the operator for a request of the page; undefined without a session that is in force. */
  credentialOf(request: LetheRequest): string | undefined {
    const sealed = isFromPage(request) ? cookieOf(request.headers.cookie) : undefined;
    if (sealed === undefined) return undefined;
    // The cookie is of all tabs of a browser: the page of one must not act as what another has signed in as.
    const named = request.headers[BOT_HEADER];
    if (sealed.startsWith(OF_OPERATOR)) {
      if (named !== undefined && named !== OPERATOR) return undefined;
      const session = this.opened<OperatorSession>(sealed.slice(OF_OPERATOR.length), OPERATOR_CONTEXT);
      return session?.token === this.tokenDigest ? this.config.operatorToken : undefined;
    }
    const session = this.opened<Session>(sealed, CONTEXT);
    if (session === undefined) return undefined;
    const { botId } = session;
    return named === undefined || botId === undefined || named === botId ? session.key : undefined;
  }

  /** The session, if it is in force. */
  private opened<T extends { readonly untilMs: number }>(sealed: string, context: string): T | undefined {
    const json = ifReadable(() => this.keyring.decrypt(sealed, context));
    const session = json === undefined ? undefined : (JSON.parse(json) as T);
    return session !== undefined && session.untilMs > this.clock.nowMs() ? session : undefined;
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
 * Turns `/console/api/…` of a session into `/api/…` with its API key or the token of the operator, before anything looks at
 * either: scopes and every rule of the interface apply as to a call of the bot. The sessions of a bot have a limit of their
 * own. A request without a session has neither.
 */
export function consoleGateway(sessions: ConsoleSessions, limit: number) {
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    if (request.url.startsWith(INTERFACE)) {
      const credential = sessions.credentialOf(request);
      delete request.headers.authorization;
      if (credential !== undefined) {
        request.headers.authorization = `Bearer ${credential}`;
        request.context.consoleLimit = limit;
        request.context.hasSessionEnded = () => sessions.credentialOf(request) === undefined;
      }
      request.url = request.url.slice(CONSOLE.length);
    }
    next();
  };
}

/** Characters of a token of the operator at most; API keys have fewer. */
const KEY_LENGTH_MAX = 258;

class SignInDto {
  @Text(KEY_LENGTH_MAX) key: string;
}

/** @throws ApiError 401 for a request that the page of the console has not sent */
@Injectable()
export class ConsolePageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (isFromPage(context.switchToHttp().getRequest<LetheRequest>())) return true;
    throw new ApiError(
      'unauthorized',
      'Only the page /console of this service can begin and end its sessions',
    );
  }
}

/** The session of the console, outside the prefix of the interface. */
@ApiExcludeController()
@Public()
@AdmittedBy(ConsolePageGuard)
@Controller('console/session')
export class ConsoleController {
  constructor(private readonly sessions: ConsoleSessions) {}

  @Post()
  @HttpCode(200)
  async begin(
    @Req() request: LetheRequest,
    @Res({ passthrough: true }) response: Response,
    @Body() { key }: SignInDto,
  ): Promise<BegunSession['session']> {
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
    response.setHeader('Set-Cookie', this.sessions.end(request));
    return { ended: true };
  }
}
