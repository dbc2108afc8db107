import { type Scope, Text } from '@app/http';

/** Characters of an operator token at most; API keys have fewer. */
const KEY_LENGTH_MAX = 258;

export class SignInDto {
  @Text(KEY_LENGTH_MAX) key: string;
}

/** A session of the operator. */
export interface OperatorSessionView {
  readonly operator: true;
  readonly expires_at: string;
}

export interface SessionView {
  readonly bot_id: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
}
