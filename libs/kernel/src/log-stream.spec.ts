import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
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

const written = () => readFileSync(path, 'utf8');

describe('LogStream', () => {
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
