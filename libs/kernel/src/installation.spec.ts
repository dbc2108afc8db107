import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminCommand, launcherName } from './installation';

describe('the command that a message names', () => {
  it('is the script of npm in a checkout, and lethe-server in a package or an image', () => {
    expect(adminCommand('keys:list')).toBe('npm run admin -- keys:list');
    const packed = mkdtempSync(join(tmpdir(), 'lethe-test-'));
    try {
      expect(adminCommand('backup --to DIR', packed)).toBe('lethe-server admin backup --to DIR');
    } finally {
      rmSync(packed, { recursive: true });
    }
  });

  it.each([
    ['with npx where npx runs it', '/home/a/.npm/_npx/0f1e/node_modules/@lethe/server', 'npx @lethe/server'],
    ['with npx on Windows', 'C:\\npm-cache\\_npx\\0f1e\\node_modules\\@lethe\\server', 'npx @lethe/server'],
    [
      'by its path where the folder has the package',
      '/opt/lethe/node_modules/@lethe/server',
      'node_modules/.bin/lethe-server',
    ],
    ['alone where the package is for all folders', '/usr/lib/node_modules/@lethe/server', 'lethe-server'],
    ['alone in an image', '/app', 'lethe-server'],
  ])('names the launcher %s', (_, home, name) => {
    expect(launcherName(home, '/opt/lethe')).toBe(name);
    expect(adminCommand('keys:list', home, '/opt/lethe')).toBe(`${name} admin keys:list`);
  });
});
