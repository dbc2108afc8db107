import type { Server } from 'node:http';
import { readConfig } from '@app/kernel';
import { LetheHttpAdapter } from './http.adapter';

describe('LetheHttpAdapter', () => {
  it.each([
    [{}, 65_000],
    [{ KEEP_ALIVE_TIMEOUT_MS: '700000' }, 700_000],
  ])('keeps idle connections as %j says', (environment, keptMs) => {
    const adapter = new LetheHttpAdapter(readConfig(environment));
    adapter.initHttpServer();
    expect((adapter.getHttpServer() as Server).keepAliveTimeout).toBe(keptMs);
  });
});
