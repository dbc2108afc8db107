import { Injectable } from '@nestjs/common';
import { ApiKeyDirectory } from '@app/bots';
import { Keyring } from '@app/crypto';
import { type Caller, type LetheRequest } from '@app/http';
import { Clock } from '@app/kernel';
import { OperatorSessions } from './operator-sessions';
import { openedJson } from './sealed-json';

/** The longest session, in milliseconds. It also ends when its key ends. */
const SESSION_MS = 8 * 60 * 60 * 1000;
const COOKIE = 'lethe_console';
const CONTEXT = 'console/session';
/** The beginning of the cookie of an operator. */
const OF_OPERATOR = 'operator.';
/** The header of every request of the page. A foreign page cannot send it without a permission that no answer gives. */
const PAGE_HEADER = 'x-lethe-console';

interface Session {
  readonly key: string;
  readonly untilMs: number;
}

/** A session that begins: the value of its `Set-Cookie` header, whose it is, and when it ends. */
export interface BegunSession {
  readonly cookie: string;
  readonly of: Caller | 'operator';
  readonly expiresAt: string;
}

/**
 * Sessions of the console: an API key, or the right of the operator, encrypted in a cookie that no script can read and no
 * other site can send. The server keeps nothing, and the key is checked at every request, so that a session ends with it.
 */
@Injectable()
export class ConsoleSessions {
  constructor(
    private readonly keyring: Keyring,
    private readonly directory: ApiKeyDirectory,
    private readonly operator: OperatorSessions,
    private readonly clock: Clock,
  ) {}

  /** Whether the operator can begin a session. */
  get hasOperator(): boolean {
    return this.operator.isOn;
  }

  /** Undefined for a text that is neither a valid API key nor the operator's token. */
  async begin(request: LetheRequest, key: string): Promise<BegunSession | undefined> {
    const untilMs = this.clock.nowMs() + SESSION_MS;
    const begun = (of: BegunSession['of'], sealed: string): BegunSession => ({
      cookie: cookie(request, sealed, SESSION_MS / 1000),
      of,
      expiresAt: new Date(untilMs).toISOString(),
    });
    const known = await this.directory.identify(key);
    if (known !== undefined)
      return begun(
        known.caller,
        this.keyring.encrypt(JSON.stringify({ key, untilMs } satisfies Session), CONTEXT),
      );
    const ofOperator = this.operator.begin(key, untilMs);
    return ofOperator === undefined ? undefined : begun('operator', OF_OPERATOR + ofOperator);
  }

  /** The `Set-Cookie` header that ends a session. */
  end(request: LetheRequest): string {
    return cookie(request, '', 0);
  }

  /** The API key or the operator's token for a request of the page; undefined without a session that is in force. */
  credentialOf(request: LetheRequest): string | undefined {
    const sealed = isFromPage(request) ? cookieOf(request.headers.cookie) : undefined;
    if (sealed === undefined) return undefined;
    const nowMs = this.clock.nowMs();
    if (sealed.startsWith(OF_OPERATOR)) return this.operator.tokenOf(sealed.slice(OF_OPERATOR.length), nowMs);
    const session = openedJson<Session>(this.keyring, sealed, CONTEXT);
    return session === undefined || session.untilMs <= nowMs ? undefined : session.key;
  }
}

/** Whether the page of the console of this origin has sent a request. */
export function isFromPage({ headers }: LetheRequest): boolean {
  const site = headers['sec-fetch-site'];
  return headers[PAGE_HEADER] === '1' && (site === undefined || site === 'same-origin');
}

function cookie({ secure }: LetheRequest, value: string, seconds: number): string {
  const flags = `Path=/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
  return `${COOKIE}=${value}; ${flags}${secure ? '; Secure' : ''}`;
}

function cookieOf(header = ''): string | undefined {
  for (const part of header.split(';')) {
    const [name, value] = part.trim().split('=');
    if (name === COOKIE && value) return value;
  }
  return undefined;
}
