// npm run pack:clients: packs the packages for bots, and prints how to install them in the folder of a bot.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = join(import.meta.dirname, '../packages');

const packed = readdirSync(PACKAGES).map((name) => {
  const cwd = join(PACKAGES, name);
  // What npm and the build say is no line to copy.
  const made = spawnSync('npm', ['pack', '--json'], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] });
  if (made.status !== 0) process.exit(1);
  const [{ filename }] = Object.values(JSON.parse(made.stdout));
  return { name, file: join(cwd, filename) };
});
const files = (...names) => packed.filter(({ name }) => names.includes(name)).map(({ file }) => file);
process.stdout.write(`In the folder of your bot:
npm install ${files('sdk', 'cli').join(' ')}
and for a bot on Discord:
npm install ${files('sdk', 'cli', 'discord').join(' ')}
`);
