import {
  ConflictError,
  InvalidRequestError,
  LetheError,
  NetworkError,
  NotFoundError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
} from '@lethe/sdk';
import { EXIT, type Failure, failureOf } from './failures';
import { notingLosses } from './unknown-outcome';

const URL = 'http://127.0.0.1:3000';

describe('a failure of a call', () => {
  it('says what the service has answered with 503, and the id of the request', () => {
    const message = 'The erasure is on record and will be finished';
    const details = { request_id: '0198c0de', status: 'processing' };
    const error = new UnavailableError(message, { status: 503, code: 'service_unavailable', details });
    expect(failureOf(error, URL)).toMatchObject({
      ...{ exitCode: EXIT.unreachable, code: 'service_unavailable' },
      message: `The service at ${URL} answers 503: ${message} (request_id 0198c0de)`,
      mend:
        'GET /api/v1/gdpr/forget-status/0198c0de shows its status. ' +
        'Of an erasure in all guilds this is one guild: give the command again for the others.',
    });
  });

  it('says that nothing answers only where that is so', () => {
    const closed = new NetworkError('Lost.', { code: 'network_error', cause: { code: 'ECONNREFUSED' } });
    const proxy = new UnavailableError('A proxy answered 502.', { status: 502, code: 'service_unavailable' });
    expect([closed, proxy].map((error) => failureOf(error, URL).message)).toEqual([
      `The service at ${URL} does not answer (ECONNREFUSED).`,
      `The service at ${URL} answers 502: A proxy answered 502.`,
    ]);
    expect(failureOf(proxy, URL)).toMatchObject({
      ...{ exitCode: EXIT.unreachable, mend: expect.stringContaining('LETHE_URL') as string },
    });
  });

  describe('whose answer was lost', () => {
    const reset = new NetworkError('Lost.', { code: 'network_error', cause: { code: 'ECONNRESET' } });
    const closed = () => new NetworkError('No.', { code: 'network_error', cause: { code: 'ECONNREFUSED' } });
    const timeout = new TimeoutError('The call took longer than 9 ms. Whether it took effect is unknown.', {
      code: 'timeout',
    });
    const proxy = new UnavailableError('A proxy answered 504.', { status: 504, code: 'service_unavailable' });
    const key = () => new UnauthorizedError('No key.', { status: 401, code: 'unauthorized' });
    type Route = Parameters<NonNullable<ReturnType<typeof notingLosses>['trace']>>[0];

    const saidOf = async (route: Route, ...errors: readonly LetheError[]): Promise<string> =>
      (await failureOfCall(route, ...errors)).message;

    async function failureOfCall(route: Route, ...errors: readonly LetheError[]): Promise<Failure> {
      const { onRetry, trace } = notingLosses();
      const run = (): Promise<never> => {
        for (const error of errors.slice(0, -1)) onRetry?.({ route, attempt: 1, waitMs: 0, error });
        return Promise.reject(errors.at(-1) ?? reset);
      };
      return failureOf(await trace?.(route, run).catch((error: unknown) => error), URL);
    }

    it('says of an act that it is unknown whether it was done, also where a later attempt fails in another way', async () => {
      const words = (cause: string) =>
        `An answer of the service at ${URL} was lost (${cause}). Whether it was done is unknown.`;
      const said = [[reset], [timeout], [proxy], [reset, closed()], [reset, key()]];
      expect(await Promise.all(said.map((errors) => saidOf('POST /gdpr/forget-user', ...errors)))).toEqual(
        [
          'ECONNRESET',
          'The call took longer than 9 ms',
          'A proxy answered 504',
          'ECONNREFUSED',
          'No key',
        ].map(words),
      );
    });

    const conflict = (reason: string) =>
      new ConflictError('Refused.', { status: 409, code: 'conflict', details: { reason } });

    it('says why the service refuses a repeat, which proves that the act was not done', async () => {
      const decided = [
        () => new InvalidRequestError('Refused.', { status: 400, code: 'invalid_request' }),
        () => new NotFoundError('Refused.', { status: 404, code: 'not_found' }),
        () => new LetheError('Refused.', { status: 413, code: 'payload_too_large' }),
        () => conflict('limit_reached'),
      ];
      for (const refusal of decided)
        expect(await failureOfCall('POST /bots/{bot_id}/keys', reset, refusal())).toMatchObject({
          ...{ exitCode: EXIT.refused, message: 'Refused.' },
        });
    });

    it('says that it is unknown where the refusal of a repeat proves nothing', async () => {
      const reasons = ['idempotency_in_progress', 'deletion_in_progress', 'idempotency_answer_erased'];
      const proxy = new LetheError('Refused.', { status: 404, code: 'unexpected_answer' });
      for (const refusal of [...reasons.map(conflict), proxy])
        expect(await failureOfCall('POST /gdpr/forget-user', reset, refusal)).toMatchObject({
          ...{ exitCode: EXIT.unreachable, message: expect.stringContaining('is unknown') as string },
        });
      // No key makes one act of these.
      const gone = new NotFoundError('Refused.', { status: 404, code: 'not_found' });
      expect(await saidOf('PUT /holders/{key}', reset, gone)).toContain('is unknown');
    });

    it('says that nothing answers where no attempt was sent, or nothing was to be done', async () => {
      const silent = `The service at ${URL} does not answer (ECONNREFUSED).`;
      expect(await saidOf('POST /gdpr/forget-user', closed(), closed())).toBe(silent);
      const cut = new NetworkError('Lost.', { code: 'network_error', cause: { code: 'ECONNRESET' } });
      expect(await saidOf('GET /bots/me', cut)).toContain('does not answer');
    });
  });
});
