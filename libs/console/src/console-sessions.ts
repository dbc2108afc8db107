import { Inject, Injectable } from '@nestjs/common';
import { ApiKeyDirectory } from '@app/bots';
import { Keyring } from '@app/crypto';
import { type Caller, type LetheRequest } from '@app/http';
import { Clock, CONFIG, type Config } from '@app/kernel';
import { UnreadableSecretError } from '@app/primitives';

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

/** A session that begins: the value of its `Set-Cookie` header, whose key it is, and when it ends. */
export interface BegunSession {
  readonly cookie: string;
  readonly caller: Caller;
  readonly expiresAt: string;
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

  /** Undefined for a key that is not valid. */
  async begin(request: LetheRequest, key: string): Promise<BegunSession | undefined> {
    const known = await this.directory.identify(key);
    if (known === undefined) return undefined;
    const untilMs = this.clock.nowMs() + SESSION_MS;
    const sealed = this.keyring.encrypt(JSON.stringify({ key, untilMs } satisfies Session), CONTEXT);
    return {
      cookie: this.cookie(request, sealed, SESSION_MS / 1000),
      caller: known.caller,
      expiresAt: new Date(untilMs).toISOString(),
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

/** Undefined where the header has the name twice: a sibling of the site can set a second cookie, which browsers may send first. */
function cookieOf(header = ''): string | undefined {
  const found = header.split(';').flatMap((part) => {
    const [name, value] = part.trim().split('=');
    return name === COOKIE && value ? [value] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}
