import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Degradations, DISK_LOW, NO_METRICS } from '@app/kernel';
import { Ballast, DiskWatch } from './sqlite.ballast';

describe('the ballast', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-ballast-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  // Called where a fault is handled: a second one would end the process.
  it('makes no room, and is no fault, where its file cannot be reached', () => {
    symlinkSync('lethe.db.ballast', join(directory, 'lethe.db.ballast'));
    expect(new Ballast([join(directory, 'lethe.db')], 1_048_576).release()).toBe(false);
  });
});

describe('the watch of the disk', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['EACCES', /^The ballast beside the database cannot be completed: /],
    ['EDQUOT', /^The ballast beside the database cannot be completed: /],
    ['ENOSPC', /^The disk of the database is almost full/],
  ])('says what keeps the ballast from being completed: %s', async (code, says) => {
    const lines: unknown[] = [];
    jest
      .spyOn(Logger.prototype, 'error')
      .mockImplementation((...args: unknown[]) => void lines.push(args[0]));
    const fault = Object.assign(new Error('planted'), { code });
    const ballast = { complete: () => Promise.reject(fault) } as Partial<Ballast> as Ballast;
    const degradations = new Degradations();
    await new DiskWatch(ballast, { jobs: 'on' }, degradations, NO_METRICS).look();
    expect(lines).toEqual([expect.stringMatching(says)]);
    expect(degradations.has(DISK_LOW)).toBe(true);
  });
});
