// `npm run admin` runs the commands of the operator from the build in dist. It builds only when dist is missing, so that
// a service that runs from dist loses no file.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sourceNewerThan } from './sources.mjs';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const MAIN = join(DIST, 'apps/admin/src/main.js');
const BUILDER = join(ROOT, 'node_modules/@nestjs/cli');

const asked = process.argv[2] ?? '';

if (!existsSync(DIST)) build();
if (!existsSync(MAIN))
  fail('The build in dist is not complete. Run `npm run build`, while no service runs from it.');
const newer = sourceNewerThan(statSync(MAIN).mtimeMs);
if (newer !== undefined) {
  const stale = `The build in dist is older than ${newer}`;
  // A schema changed by migrations of another version would wrongly count as current.
  if (asked.startsWith('db:')) fail(`${stale}. Stop the service and run \`npm run build\` first.`);
  process.stderr.write(`${stale} and is used as it is; \`npm run build\` makes a new one.\n`);
}
await import(pathToFileURL(MAIN).href);

function build() {
  if (!existsSync(BUILDER))
    fail(
      'There is no build in dist, and the build tools are not installed. Run `npm ci` and `npm run build`.',
    );
  process.stderr.write('There is no build in dist yet: building once.\n');
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail('The build failed. Mend the errors above and run the command again.');
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
