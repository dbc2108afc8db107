import { Inject, Injectable } from '@nestjs/common';
import { ApiKeyDirectory } from '@app/bots';
import { Keyring, UnreadableSecretError } from '@app/crypto';
import { type LetheRequest, type Scope, scopesOf } from '@app/http';
import { Clock, type Config, CONFIG } from '@app/kernel';
import type { NextFunction, Response } from 'express';

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
  const site = headers['sec-fetch-site'];
  return headers[PAGE_HEADER] === '1' && (site === undefined || site === 'same-origin');
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
