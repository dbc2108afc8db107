/** One public key of a service (RFC 7517, RFC 8037). */
export interface PublicKey {
  readonly kty?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly kid?: string;
  readonly retired_at?: string;
  /** Of a key that verifies webhook calls: the same key as `whpk_…` (Standard Webhooks). */
  readonly webhook_key?: string;
}

/**
 * The answer of `/.well-known/lethe-keys.json`. Fetch it from the service and keep it; do not accept it together with a
 * statement.
 */
export interface KeySet {
  readonly keys: readonly PublicKey[];
}
