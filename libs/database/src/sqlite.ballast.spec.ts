import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ballast } from './sqlite.ballast';

describe('the ballast', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-ballast-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  // Called where a fault is handled: a second one would end the process.
  it('makes no room, and is no fault, where its file cannot be reached', () => {
    symlinkSync('lethe.db.ballast', join(directory, 'lethe.db.ballast'));
    expect(new Ballast([join(directory, 'lethe.db')], 1_048_576).release()).toBe(false);
  });
});
