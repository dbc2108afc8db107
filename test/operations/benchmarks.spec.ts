import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { useBuild } from '../support/build';

jest.setTimeout(300_000);

const ROOT = resolve(__dirname, '../..');
const MODULES = join(ROOT, 'node_modules');
const build = useBuild();

/** The benchmarks use parts of the built service that no type checks; these runs show nothing but that two of them run. */
describe('the benchmarks of partitions and of paired builds', () => {
  beforeAll(() => {
    for (const folder of ['bench', 'scripts'])
      cpSync(join(ROOT, folder), join(build.workingDirectory, folder), { recursive: true });
    symlinkSync(MODULES, join(build.workingDirectory, 'node_modules'));
    symlinkSync(build.directory, join(build.workingDirectory, 'dist'));
  });

  it.each([
    ['partitions', ['--events', '2000', '--bots', '3'], '| removed, events/s |'],
    ['paired', ['--operation', 'submit', '--rounds', '1', '--seconds', '1'], '| this |'],
    [
      'paired',
      ['--operation', 'status', '--engine', 'postgres', '--rounds', '1', '--seconds', '1'],
      '| this |',
    ],
  ])('%s runs with %j', async (name, given, row) => {
    const program = join(build.workingDirectory, 'bench', `${name}.mjs`);
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...given], {
      env: { ...process.env, NODE_PATH: MODULES },
      timeout: 240_000,
    });
    expect(stdout).toContain(row);
  });
});
