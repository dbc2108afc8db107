import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InstallationKeys } from '@app/crypto';
import type { LetheRequest } from '@app/http';
import { type ApiError, Clock, conflict, invalidRequest, OwnError } from '@app/kernel';
import { type Digest, DIGEST_LENGTH, DigestKey } from '@app/primitives';
import { type Claim, KeyClaim, NO_CLAIM } from './claim';

/** The header by which a caller repeats a request safely (IETF draft-ietf-httpapi-idempotency-key-header). */
export const KEY_HEADER = 'Idempotency-Key';

/** For whom a request is claimed: all API keys of its bot, or the calling one alone. */
export type ClaimOwner = 'bot' | 'key';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The refusal of a repeat beside the request that it repeats. */
export function inProgress(): ApiError {
  return conflict(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is being answered: repeat it when that has ended',
  );
}

/** Makes the claims of requests. */
@Injectable()
export class Claims {
  private readonly digests: DigestKey;
  /** The claims of requests without an answer yet, in this process. */
  private readonly underWay = new Set<string>();

  constructor(
    keys: InstallationKeys,
    private readonly clock: Clock,
  ) {
    this.digests = new DigestKey(keys.digest);
  }

  /**
   * @throws ApiError 400 for a malformed key; 409 `idempotency_in_progress` while a request with this key is being
   * answered by this process
   */
  of(request: LetheRequest, owner: ClaimOwner = 'bot'): Claim {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return NO_CLAIM;
    if (typeof key !== 'string' || !KEY.test(key))
      throw invalidRequest([
        { field: KEY_HEADER, message: 'must be 1 to 255 visible ASCII characters without spaces' },
      ]);
    const { caller } = request.context;
    if (caller === undefined) throw new OwnError('Claimed is used on a public route');
    const { botId, keyId } = caller;
    const named = owner === 'bot' ? key : `${key}\n${keyId}`;
    const name = hash('sha256', `${request.method} ${request.path}\n${named}`, 'base64url');
    const whole = this.digests.whole(botId, 'claim', name);
    const [id, secret] = [whole.slice(0, DIGEST_LENGTH) as Digest, whole.slice(DIGEST_LENGTH)];
    this.begin(id, request);
    // The body holds ids. The part of the keyed digest that is not stored keeps them from being guessed by trial.
    const content = hash('sha256', secret + JSON.stringify(request.body ?? null), 'base64url');
    return new KeyClaim(botId, id, content.slice(0, DIGEST_LENGTH) as Digest, this.clock, request.context);
  }

  private begin(name: string, { context }: LetheRequest): void {
    if (this.underWay.has(name)) throw inProgress();
    this.underWay.add(name);
    context.onAnswered = () => this.underWay.delete(name);
  }
}
