import type { Bot } from './bot';
import type { Json } from './client';
import { A_KEY, A_TIME, AN_ID } from './expected';

/** A key as the call that makes it answers it. */
export interface Key {
  readonly id: string;
  readonly api_key: string;
  readonly api_key_prefix: string;
  readonly expires_at: string | null;
}

/** The answer of the list of keys. */
export interface Listed {
  readonly keys: readonly {
    readonly id: string;
    readonly name?: string;
    readonly last_used_at: string | null;
  }[];
}

export const ALL_SCOPES = ['read', 'write', 'erase', 'admin'];

export const keysOf = ({ id }: Bot): string => `/bots/${id}/keys`;

/** A time so long from now. */
export const later = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** The whole answer of the call that makes a key. */
export function createdKey(given: Json = {}): Json {
  return {
    ...{ id: AN_ID, api_key: A_KEY, api_key_prefix: expect.stringMatching(/^sk_live_\w{8}$/) as unknown },
    ...{ scopes: ALL_SCOPES, expires_at: null, created_at: A_TIME },
    ...given,
  };
}
