import { hash } from 'node:crypto';
import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { type Digest, DIGEST_LENGTH, DigestKey, InstallationKeys } from '@app/crypto';
import { documenting, IDEMPOTENT_ROUTE_EXTENSION, type LetheRequest, type RequestContext } from '@app/http';
import { type ApiError, conflict, invalidRequest, OwnError } from '@app/kernel';

/** The row in which the answer of a request with a key is stored. */
export interface ClaimedRow {
  readonly botId: string;
  /** The digest of method, path and key. */
  readonly id: Digest;
  /** The digest of key and body. */
  readonly request: Digest;
}

/**
 * The claim of a request on its act: with an `Idempotency-Key` the act is done once, and its answer is stored in the
 * transaction of the act.
 */
export class Claim {
  /** Whether an answer may be stored already: the unit of the act has met one, and is run again. */
  isRepeat = false;

  /** @param row undefined for a request without a key */
  constructor(
    readonly row?: ClaimedRow,
    private readonly context?: Pick<RequestContext, 'isReplayed'>,
  ) {}

  /** Whether the request has a key. */
  get isGiven(): boolean {
    return this.row !== undefined;
  }

  /**
   * The claims of the acts of a request that consists of several: each is done once for the key and its place. They do not
   * mark the answer as a replay; {@link replay} does.
   */
  parts(count: number): readonly Claim[] {
    return Array.from({ length: count }, (_, at) => this.part(at));
  }

  /** One of {@link parts}. */
  part(at: number): Claim {
    if (this.row === undefined) return this;
    const { botId, id, request } = this.row;
    const part = hash('sha256', `${id}/${at}`, 'base64url').slice(0, DIGEST_LENGTH) as Digest;
    return new Claim({ botId, id: part, request });
  }

  /** Marks the answer as the one of an earlier request. */
  replay(): void {
    if (this.context !== undefined) this.context.isReplayed = true;
  }
}

/** The claim of a request without a key. */
export const NO_CLAIM = new Claim();

/** The header by which a caller repeats a request safely (IETF draft-ietf-httpapi-idempotency-key-header). */
const KEY_HEADER = 'Idempotency-Key';

/** For whom a request is claimed: all API keys of its bot, or the calling one alone. */
type ClaimOwner = 'bot' | 'key';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Makes the claims of requests. */
@Injectable()
export class Claims {
  private readonly digests: DigestKey;
  /** The claims of requests without an answer yet, in this process. */
  private readonly underWay = new Set<string>();

  constructor(keys: InstallationKeys) {
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
    // `secret` is the half of the digest that is never stored: without it the stored hash of the body cannot be tested against
    // guessed ids.
    const content = hash('sha256', secret + JSON.stringify(request.body ?? {}), 'base64url');
    const row = { botId, id, request: content.slice(0, DIGEST_LENGTH) as Digest };
    return new Claim(row, request.context);
  }

  /** The claim is under way until the request is answered. */
  private begin(name: string, { context }: LetheRequest): void {
    if (this.underWay.has(name)) throw inProgress();
    this.underWay.add(name);
    context.onAnswered = () => this.underWay.delete(name);
  }
}

@Injectable()
class ClaimPipe implements PipeTransform<LetheRequest, Claim> {
  constructor(private readonly claims: Claims) {}

  transform(request: LetheRequest, { data: owner }: ArgumentMetadata): Claim {
    return this.claims.of(request, owner as ClaimOwner);
  }
}

const RequestOfClaim = createParamDecorator((_: ClaimOwner, context: ExecutionContext) =>
  context.switchToHttp().getRequest<LetheRequest>(),
);

/**
 * The {@link Claim} of the request, on a POST that takes an `Idempotency-Key`. It documents the header too. An answer that
 * grants what the calling API key may do is claimed for this `key`, else another one would get it by repeating the request.
 */
export const Claimed = (owner: ClaimOwner = 'bot'): ParameterDecorator =>
  documenting(RequestOfClaim(owner, ClaimPipe), () => ApiExtension(IDEMPOTENT_ROUTE_EXTENSION, true));

/** The refusal of a request that has the key of another one. */
export function keyReused(): ApiError {
  return conflict(
    'idempotency_key_reused',
    'This Idempotency-Key was sent with another body: use a new key for another act',
  );
}

/** The refusal of a repeat whose answer was erased, or says what was deleted. */
export function answerErased(): ApiError {
  return conflict(
    'idempotency_answer_erased',
    'What was stored for this Idempotency-Key was erased with its user, what it made was deleted, or its key is lost: use a new key for a new act',
  );
}

/** The refusal of a repeat while the request that it repeats is being answered. */
export function inProgress(): ApiError {
  return conflict(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is being answered: repeat it when that has ended',
  );
}
