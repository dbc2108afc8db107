import { createLogger, describeFault, logRequest } from './logger';
import { isForPeople, linesForPeople, type Screen } from './log-lines';
import { OwnError } from './errors';

describe('the form of the log', () => {
  it.each([
    ['auto', true, true],
    ['auto', false, false],
    ['auto', undefined, false],
    ['json', true, false],
    ['text', undefined, true],
  ] as const)('is for people: %s, terminal %s: %s', (format, isTTY, expected) => {
    expect(isForPeople(format, isTTY === undefined ? {} : { isTTY })).toBe(expected);
  });
});

describe('a line for people', () => {
  const today = (...time: [number, ...number[]]) => new Date(2026, 10, 27, ...time);
  let written = '';
  beforeEach(() => {
    written = '';
    // A line of another day than the one before names it.
    jest.useFakeTimers({ now: today(12) });
  });
  afterEach(() => jest.useRealTimers());

  const loggerOn = (screen: Screen) =>
    createLogger('trace', linesForPeople({ write: (text) => (written += text) }, screen));
  /** The written lines without their times. */
  const lines = () =>
    written
      .replace(/^\d\d:\d\d:\d\d\.\d{3} /gm, '')
      .split('\n')
      .slice(0, -1);
  const request = { requestId: 'r-1', method: 'GET', status: 200, durationMs: 1.3 };
  const plain = loggerOn({});

  it('begins with the time of this machine', () => {
    jest.setSystemTime(today(5, 6, 7, 8));
    plain.info('stopped');
    expect(written).toBe('05:06:07.008 INFO  stopped\n');
  });

  it('has the day before it, where it is another one than that of the line before', () => {
    jest.setSystemTime(today(23, 59, 59));
    const logger = loggerOn({});
    logger.info('a');
    logger.info('b');
    jest.setSystemTime(new Date(2026, 10, 28, 0, 0, 1));
    logger.info('c');
    expect(lines()).toEqual(['INFO  a', 'INFO  b', '– Sat Nov 28 2026 –', 'INFO  c']);
  });

  it('says of a request status, method, route and time, and its id where it failed', () => {
    const botId = '01a1f99c-b4cd-75e4-8e93-1fa5403979e9';
    logRequest(plain, { ...request, route: '/api/v1/servers', botId });
    logRequest(plain, { ...request, route: null, status: 404, botId: undefined });
    expect(lines()).toEqual([
      'INFO  200 GET /api/v1/servers 1.3 ms bot …1fa5403979e9',
      'INFO  404 GET unknown path 1.3 ms request r-1',
    ]);
  });

  it('has the context, the message, the reason and the fields of a fault, each once, and a line for each place', () => {
    const fault = Object.assign(new OwnError('the disk is slow'), { code: '57014' });
    fault.stack = `Error: x\n    at read (${process.cwd()}/libs/a.ts:1:2)\n    at file:///b.mjs:3:4`;
    plain.error({ context: 'Jobs', job: 'x y', ...describeFault(fault) }, 'The job failed');
    plain.warn({ ...describeFault(new TypeError('value of a user')), frames: '' }, 'It failed: no reason');
    plain.error({ fault: 'Error', reason: 'it is away' }, 'The file: it is away.');
    expect(lines()).toEqual([
      'ERROR Jobs: The job failed – the disk is slow job="x y" code=57014',
      '    at read (libs/a.ts:1:2)',
      '    at /b.mjs:3:4',
      'WARN  It failed: no reason fault=TypeError',
      'ERROR The file: it is away.',
    ]);
  });

  it('is continued below its message at the width of the screen, with longer words whole', () => {
    const long = 'x'.repeat(70);
    loggerOn({ columns: 60 }).info({ a: 1 }, `${'word '.repeat(12)}${long}\nend`);
    const indent = ' '.repeat(19);
    expect(lines()).toEqual([
      `INFO  ${'word '.repeat(8).trim()}`,
      `${indent}${'word '.repeat(4).trim()}`,
      `${indent}${long}`,
      `${indent}end a=1`,
    ]);
  });

  it('is not broken where the screen has no width, or too little', () => {
    for (const columns of [0, 20]) loggerOn({ columns }).info('word '.repeat(40));
    expect(lines()).toHaveLength(2);
  });

  it('has colours where the screen has, which say what is a warning, a fault and a refusal', () => {
    const logger = loggerOn({ hasColors: () => true });
    logger.warn('a');
    logger.fatal('b');
    logRequest(logger, { ...request, route: '/x', status: 404, botId: undefined });
    expect(written).toContain('\u001b[33mWARN \u001b[39m a');
    expect(written).toContain('\u001b[31mFATAL\u001b[39m b');
    expect(written).toContain('\u001b[33m404\u001b[39m GET');
    written = '';
    plain.warn('a');
    expect(written).not.toContain('\u001b');
  });

  it('gives a terminal nothing to obey, and no second line to take for one of the log', () => {
    const evil = '\u001b]0;title\u0007 \u009b31m\n12:00:00.000 INFO  stopped';
    plain.error({ field: evil, context: evil }, evil);

    expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(written).toContain('\\u001b]0;title\\u0007');
    expect(lines()).toHaveLength(1);
  });
});
