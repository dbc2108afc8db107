import fs, { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, OwnError } from './errors';
import { createLogger, describeFault, logDestination, NestLogger } from './logger';

describe('describeFault', () => {
  it.each([
    ['an error of our own', new OwnError('what happened'), 'what happened'],
    ['a 503 of our own', new ApiError('service_unavailable', 'what happened'), 'what happened'],
    ['a refusal, whose words can hold names of fields', new ApiError('invalid_request', 'x'), undefined],
    [
      'a text that cannot be decrypted',
      Object.assign(new Error('what happened'), { name: 'UnreadableSecretError' }),
      'what happened',
    ],
    ['any other error', new TypeError('x'), undefined],
  ])('has the message of %s: %s', (_, error, reason) => {
    expect(describeFault(error)['reason']).toBe(reason);
  });

  it('has neither message nor parameters of another error, not in its frames either', () => {
    const error = Object.assign(new Error('value of a user'), { code: '23505', parameters: ['value'] });
    expect(describeFault(error)).toMatchObject({ fault: 'Error', code: '23505' });
    expect(JSON.stringify(describeFault(error))).not.toContain('value');
  });

  it('has the place of a 503 of our own; a fault of the caller has none', () => {
    const [lost, refused] = [new ApiError('service_unavailable', 'x'), new ApiError('conflict', 'x')];
    expect(describeFault(lost)['frames']).toContain('logger.spec');
    expect(describeFault(refused)['frames']).toBe('');
    expect(new Error().stack).toContain('logger.spec');
  });
});

describe('NestLogger', () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const written = createLogger('trace', {
    write: (line) => void lines.push(JSON.parse(line) as object as never),
  });
  const logger = new NestLogger(written);
  beforeEach(() => (lines.length = 0));

  it.each(['warn', 'error'] as const)(
    'puts the object after a sentence into fields of its line: %s',
    (level) => {
      logger[level]('The job x failed', { job: 'x' }, 'Jobs');
      expect(lines).toEqual([
        expect.objectContaining({ msg: 'The job x failed', job: 'x', context: 'Jobs' }),
      ]);
    },
  );

  it('takes a stack that Nest hands over for no field', () => {
    logger.error('words', 'Error: secret\n at x', 'Nest');
    expect(lines).toEqual([expect.objectContaining({ msg: 'words', context: 'Nest' })]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('writes no message of an error that Nest logs', () => {
    logger.error(new TypeError('secret'), undefined, 'Scheduler');
    expect(lines).toEqual([expect.objectContaining({ msg: 'NestJS reported a fault', fault: 'TypeError' })]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('leaves out what Nest throws on: the start says it', () => {
    logger.error(new Error('x'), undefined, 'ExceptionHandler');
    logger.error('Error: listen EADDRINUSE', 'NestApplication');
    expect(lines).toEqual([]);
  });
});

describe('logDestination', () => {
  /** A line of a kibibyte. */
  const LINE = `${'x'.repeat(1_023)}\n`;
  const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  const path = join(directory, 'log');
  const fault = (code: string) => Object.assign(new Error('played'), { code });
  let destination: ReturnType<typeof logDestination>;
  /** What the end of the process calls. */
  let end: () => void;

  beforeEach(() => {
    const once = jest.spyOn(process, 'once').mockReturnThis();
    destination = logDestination(openSync(path, 'w'));
    end = once.mock.calls.find(([event]) => event === 'exit')?.[1] as () => void;
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    const closed = new Promise((resolve) => destination.sonic.once('close', resolve));
    destination.sonic.destroy();
    await closed;
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const written = () => readFileSync(path, 'utf8');
  async function untilWritten(expected: string): Promise<void> {
    while (written() !== expected) {
      destination.sonic.flush();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  /** Plays a fault of each write outside the event loop; `times` undefined means always. */
  function failWrites(code: string, times?: 1): void {
    const write = jest.spyOn(fs, 'write') as unknown as jest.Mock;
    const fail = (...args: readonly unknown[]) =>
      (args.at(-1) as (error: Error, count: number) => void)(fault(code), 0);
    if (times === undefined) write.mockImplementation(fail);
    else write.mockImplementationOnce(fail);
  }

  it('is no end of the process where nothing listens for its faults', () => {
    failWrites('EIO', 1);
    expect(() => destination.write(LINE.repeat(9))).not.toThrow();
  });

  it('reports a full disk and its end, and writes each line once', async () => {
    const reports: string[] = [];
    destination.sonic.on('error', () => reports.push('failing')).on('write', () => reports.push('working'));
    failWrites('ENOSPC', 1);
    for (let n = 0; n < 9; n++) destination.write(LINE);
    await untilWritten(LINE.repeat(9));
    expect(reports.slice(0, 2)).toEqual(['failing', 'working']);
    expect(reports.slice(2)).not.toContain('failing');
  });

  it('writes in one turn all that has come while a write was under way, so that a fast caller loses no line', async () => {
    const write = jest.spyOn(fs, 'write') as unknown as jest.Mock<void, [number, Buffer]>;
    for (let n = 0; n < 8 + 64; n++) destination.write(LINE);
    await untilWritten(LINE.repeat(8 + 64));
    expect(write.mock.calls.map(([, block]) => block.length).slice(0, 2)).toEqual([8 * 1_024, 64 * 1_024]);
  });

  it('keeps 8 MiB while nothing can be written, reports the other lines, and writes what it kept at the end', () => {
    let dropped = 0;
    destination.sonic.on('drop', () => dropped++);
    failWrites('EAGAIN');
    for (let n = 0; n < 9 * 1_024; n++) destination.write(LINE);
    expect(dropped).toBe(1_024);
    end();
    expect(written()).toBe(LINE.repeat(8 * 1_024));
  });

  it('writes all lines in their order, the last ones at the end of the process', async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `{"line":"${at} ü"}\n`);
    for (const line of lines) destination.write(line);
    await untilWritten(lines.join(''));
    destination.write('last\n');
    end();
    expect(written()).toBe(`${lines.join('')}last\n`);
  });

  it.each(['ENOSPC', 'EPIPE', 'EAGAIN'])('ends where each write fails with %s', (code) => {
    createLogger('info', destination).fatal('ended by an unforeseen error');
    jest.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(1_000);
    const write = jest.spyOn(fs, 'writeSync');
    for (let n = 0; n < 3; n++)
      write.mockImplementationOnce(() => {
        throw fault(code);
      });
    end();
    expect(write).toHaveBeenCalledTimes(1);
  });
});
