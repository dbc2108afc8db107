import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { adminCommand, guidePath, launcherName } from './installation';

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
    ['alone where the package is for all folders', '/usr/lib/node_modules/@lethe/server', 'lethe-server'],
    ['alone in an image', '/app', 'lethe-server'],
  ])('names the launcher %s', (_, home, name) => {
    expect(launcherName(home, '/opt/lethe')).toBe(name);
    expect(adminCommand('keys:list', home, '/opt/lethe')).toBe(`${name} admin keys:list`);
  });

  it('names the launcher by its path where the folder has it, also of a package manager that keeps packages elsewhere', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lethe-test-'));
    try {
      mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
      writeFileSync(join(folder, 'node_modules/.bin/lethe-server'), '');
      const home = join(folder, 'node_modules/.pnpm/@lethe+server@0.1.0/node_modules/@lethe/server');
      expect(adminCommand('keys:list', home, folder)).toBe('node_modules/.bin/lethe-server admin keys:list');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the guide that a message names', () => {
  it.each([
    ['in a checkout', '/src/lethe', '/src/lethe', 'docs/operate.md'],
    [
      'in a package of the folder',
      '/opt/lethe/node_modules/@lethe/server',
      '/opt/lethe',
      'node_modules/@lethe/server/docs/operate.md',
    ],
    ['in a package of elsewhere', '/usr/lib/lethe', '/opt/lethe', '/usr/lib/lethe/docs/operate.md'],
  ])('is a file that its reader can open: %s', (_, home, folder, path) => {
    expect(guidePath('operate.md', home, folder)).toBe(path);
  });

  it('is there', () => {
    for (const guide of ['operate.md', 'reference.md'])
      expect(existsSync(resolve(guidePath(guide)))).toBe(true);
  });
});
