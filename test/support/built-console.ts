import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { madeOnce, sharedPlace } from './made-once';

const ROOT = join(__dirname, '../..');

/** The folder of the console and of /verify as vite builds them, once for all suites of a run. */
export async function builtConsole(): Promise<string> {
  const place = sharedPlace('console');
  const folder = join(place, 'built');
  await madeOnce(place, async () => {
    const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
    const build = [vite, 'build', '--logLevel', 'warn', '--outDir', folder, 'apps/console'];
    // As it ships: Jest sets another NODE_ENV, with which vite leaves the code for development in.
    const env = { ...process.env, NODE_ENV: 'production' };
    await promisify(execFile)(process.execPath, build, { cwd: ROOT, env });
  });
  return folder;
}
