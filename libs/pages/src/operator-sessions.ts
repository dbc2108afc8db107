import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Keyring } from '@app/crypto';
import { CONFIG, type Config, sameToken } from '@app/kernel';
import { openedJson } from './sealed-json';

/** A text of this context is never opened as a session of a bot, and the reverse. */
const CONTEXT = 'console/operator';

interface OperatorSession {
  /** The digest of the token with which the session began. */
  readonly token: string;
  readonly untilMs: number;
}

/** Sessions of the operator. The cookie has a digest of the token alone, and no longer fits when the token changes. */
@Injectable()
export class OperatorSessions {
  private readonly token: string;
  private readonly isToken: (given: string) => boolean;

  constructor(
    private readonly keyring: Keyring,
    @Inject(CONFIG) config: Config,
  ) {
    this.token = config.operatorToken;
    this.isToken = sameToken(config.operatorToken);
  }

  /** Whether there is an operator's part at all. */
  get isOn(): boolean {
    return this.token !== '';
  }

  /** The encrypted session; undefined for a text that is not the token. */
  begin(given: string, untilMs: number): string | undefined {
    if (!this.isOn || !this.isToken(given)) return undefined;
    const session: OperatorSession = { token: this.digest(), untilMs };
    return this.keyring.encrypt(JSON.stringify(session), CONTEXT);
  }

  /** The token for a session that is in force. */
  tokenOf(sealed: string, nowMs: number): string | undefined {
    const session = openedJson<OperatorSession>(this.keyring, sealed, CONTEXT);
    const isInForce = session !== undefined && session.untilMs > nowMs && session.token === this.digest();
    return this.isOn && isInForce ? this.token : undefined;
  }

  private digest(): string {
    return createHash('sha256').update(this.token).digest('base64url');
  }
}
