import { type Scope, Text } from '@app/http';

/** Characters of an API key at most; all have fewer. */
const KEY_LENGTH_MAX = 200;

export class SignInDto {
  @Text(KEY_LENGTH_MAX) key: string;
}

export interface SessionView {
  readonly bot_id: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
}
