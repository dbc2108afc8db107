import { createLogger, logRequest, NestLogger } from './logger';
import { PrettyLog } from './pretty-log';

const ESCAPE = String.fromCharCode(27);

function written(write: (logger: ReturnType<typeof createLogger>) => void, hasColours = false): string {
  let text = '';
  write(createLogger('trace', new PrettyLog({ write: (line) => void (text += line) }, hasColours)));
  return text;
}

const REQUEST = {
  requestId: 'r-1',
  method: 'GET',
  route: '/api/v1/bots/:bot_id',
  status: 200,
  botId: 'b-1',
  durationMs: 1.5,
};

describe('the log for people', () => {
  it('has one line for a request, with what was asked, the answer and the time', () => {
    const line = written((logger) => logRequest(logger, REQUEST));
    expect(line).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET \/api\/v1\/bots\/:bot_id 200 1\.5 ms requestId=r-1 botId=b-1\n$/,
    );
  });

  it('says unknown path where the JSON has no route', () => {
    const line = written((logger) => logRequest(logger, { ...REQUEST, route: undefined, status: 404 }));
    expect(line).toContain('GET unknown path 404');
  });

  it('has level, part, sentence, fields and places of a fault', () => {
    const frames = '    at one (a.js:1:1)\n    at two (b.js:2:2)';
    const text = written((logger) =>
      new NestLogger(logger).error('The job failed', { fault: 'TypeError', frames }, 'Jobs'),
    );
    expect(text).toMatch(/ERROR Jobs: The job failed fault=TypeError\n {6}at one .*\n {6}at two .*\n$/);
  });

  it('passes no control character on to the terminal, and colours only where there are any', () => {
    const evil = `${ESCAPE}[2J\u009b31m\r\nforged`;
    const text = written((logger) => logger.warn({ evil, nested: { evil } }, evil));
    expect(text).not.toContain(ESCAPE);
    expect(text.replace(/\n$/, '')).not.toMatch(/\p{Cc}/u);
    expect(written((logger) => logger.warn('x'), true)).toContain(`${ESCAPE}[33mWARN`);
  });
});
