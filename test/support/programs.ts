import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';

/**
 * Whether a program that Node.js does not bring is there. Without it the tests that need it are skipped with a notice; in CI
 * they run and fail.
 */
export function canRun(program: string, args: readonly string[] = ['--version']): boolean {
  if (process.env['CI'] !== undefined || spawnSync(program, args).status === 0) return true;
  const suite = basename(expect.getState().testPath ?? '');
  process.stderr.write(`No ${[program, ...args].join(' ')} here: ${suite} skips the tests that need it.\n`);
  return false;
}
