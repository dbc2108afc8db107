import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until';

/**
 * What the suites of a run share: the first one that needs the directory fills it, the others wait meanwhile. It is not
 * written to later.
 */
export async function madeOnce(directory: string, make: () => Promise<void>): Promise<void> {
  const [done, failed] = [join(directory, 'done'), join(directory, 'failed')];
  mkdirSync(directory, { recursive: true });
  try {
    mkdirSync(join(directory, 'begun'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await until(() => existsSync(done) || existsSync(failed));
    if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'));
    return;
  }
  try {
    await make();
    writeFileSync(done, '');
  } catch (error) {
    writeFileSync(failed, String((error as Error).stack));
    throw error;
  }
}

/** The place of something that the suites of a run share. */
export function sharedPlace(name: string): string {
  const build = process.env['TEST_BUILD'];
  if (build === undefined) throw new Error('TEST_BUILD is missing: scripts/jest.setup.mjs was not run');
  return `${build}-${name}`;
}
