import type { Writable } from 'node:stream';
import type { Config } from '@app/kernel';

type Output = Writable & { readonly isTTY?: boolean };

/** The settings of a command, and its output. */
export interface Terminal {
  /** @throws ConfigError */
  readonly config: () => Config;
  readonly stdout: Output;
  readonly stderr: Output;
}
