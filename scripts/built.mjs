// Builds `dist` where it is missing or older than a source, and says so. The commands that run from it begin with this.
import { spawnSync } from 'node:child_process';
import { reasonToBuild } from './sources.mjs';

const reason = reasonToBuild();
if (reason !== undefined) {
  process.stderr.write(`The build in dist ${reason}: building, which takes about half a minute …\n`);
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stderr.write('The build failed. Mend the errors above and run the command again.\n');
    process.exitCode = 1;
  }
}
