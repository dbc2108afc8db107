import { NetworkError, UnavailableError } from '@lethe/sdk';
import { EXIT, failureOf } from './failures';

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
});
