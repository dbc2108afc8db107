import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminCommand } from './installation';

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
});
