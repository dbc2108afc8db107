import { ApiError, OwnError } from './errors';
import { createLogger, describeFault, NestLogger } from './logger';

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
    expect(lines).toEqual([]);
  });
});
