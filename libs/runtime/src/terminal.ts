import type { Writable } from 'node:stream';
import type { Config } from '@app/kernel';

type Output = Writable & { readonly isTTY?: boolean };

/** Where a command finds its settings, and where it writes. */
export interface Terminal {
  /** @throws ConfigError */
  readonly config: () => Config;
  readonly stdout: Output;
  readonly stderr: Output;
}
