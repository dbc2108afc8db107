import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogStream } from './log-stream';

const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
const path = join(directory, 'log');
const fd = openSync(path, 'w');
afterAll(() => {
  closeSync(fd);
  rmSync(directory, { recursive: true });
});

afterEach(() => jest.restoreAllMocks());

const written = () => readFileSync(path, 'utf8');

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The text of a line of about a kilobyte. */
const LINE = `${'x'.repeat(1_023)}\n`;

describe('LogStream', () => {
  it('reports a full disk and its end, and writes each line once', async () => {
    const target = openSync(join(directory, 'full'), 'w');
    const stream = new LogStream(target);
    const reports: string[] = [];
    stream.observe({
      failing: () => reports.push('failing'),
      working: () => reports.push('working'),
      dropped: () => reports.push('dropped'),
    });
    const full = jest.spyOn(fs, 'write') as unknown as jest.Mock;
    full.mockImplementationOnce(
      (_fd: number, _block: Buffer, done: (fault: Error, written: number) => void) =>
        done(Object.assign(new Error('full'), { code: 'ENOSPC' }), 0),
    );
    for (let n = 0; n < 9; n++) stream.write(LINE);
    expect(reports).toEqual(['failing']);
    while (reports.length < 2) await turn();
    expect(reports).toEqual(['failing', 'working']);
    while (readFileSync(join(directory, 'full'), 'utf8') !== LINE.repeat(9)) await turn();
    closeSync(target);
  });

  it('keeps 8 MiB while nothing can be written, counts the other lines, and writes what it kept at the end', () => {
    const target = openSync(join(directory, 'slow'), 'w');
    const stream = new LogStream(target);
    let dropped = 0;
    stream.observe({ failing: () => undefined, working: () => undefined, dropped: () => dropped++ });
    const slow = jest.spyOn(fs, 'write') as unknown as jest.Mock;
    slow.mockImplementation((_fd: number, _block: Buffer, done: (fault: Error, written: number) => void) =>
      done(Object.assign(new Error('slow'), { code: 'EAGAIN' }), 0),
    );
    for (let n = 0; n < 9 * 1_024; n++) stream.write(LINE);
    expect(dropped).toBe(1_024);
    stream.flushSync();
    expect(readFileSync(join(directory, 'slow'), 'utf8')).toBe(LINE.repeat(8 * 1_024));
    closeSync(target);
  });

  it('writes all lines in their order, the last ones at the end of the process', async () => {
    const stream = new LogStream(fd);
    let expected = '';
    for (let at = 0; at < 20; at++) {
      for (let n = 0; n < 500; n++) {
        const line = `{"line":"${at}/${n} ü"}\n`;
        expected += line;
        stream.write(line);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (written() !== expected) await new Promise((resolve) => setImmediate(resolve));
    stream.write('last\n');
    stream.flushSync();
    expect(written()).toBe(`${expected}last\n`);
  });
});
