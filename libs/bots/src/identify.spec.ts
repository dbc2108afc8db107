import { ALL_SCOPES, Caller, type LetheRequest, type RequestContext } from '@app/http';
import type { Response } from 'express';
import { type ApiKeyDirectory, identify, type KnownCaller } from './api-key-directory';

const caller = new Caller('bot', '123456789012345678', 30, 'key', ALL_SCOPES, false, 'key:sk_live_a');

const READ_AT = { monotonicMs: 0, wallMs: 0 };

/** A directory with one key that counts its look-ups. */
class Keys {
  asked = 0;
  nowMs = 0;
  known: string | undefined = 'good';

  identify(key: string): KnownCaller | undefined {
    this.asked++;
    return key === this.known
      ? { caller, readAt: READ_AT, expiresAtMs: Infinity, isDiscarded: false }
      : undefined;
  }

  isCurrent(): boolean {
    return this.nowMs < 1_000;
  }
}

function calling(keys: Keys, uses: [keyId: string, atMs: number][] = []) {
  const contextOf = contexts(keys, uses);
  return (...given: Parameters<typeof contextOf>): Caller | undefined => contextOf(...given).caller;
}

function contexts(keys: Keys, uses: [keyId: string, atMs: number][] = []) {
  const note = ({ keyId }: Caller, atMs: number): unknown => uses.push([keyId, atMs]);
  const middleware = identify(keys as unknown as ApiKeyDirectory, { note });
  return (socket: object, authorization?: string): RequestContext => {
    const request = {
      headers: { authorization },
      socket,
      context: { startedMs: 7 },
    } as unknown as LetheRequest;
    middleware(request, {} as Response, () => undefined);
    return request.context;
  };
}

describe('identify', () => {
  it('asks for a key once on each connection', () => {
    const keys = new Keys();
    const call = calling(keys);
    const [one, other] = [{}, {}];
    expect([call(one, 'Bearer good'), call(one, 'Bearer good'), call(other, 'Bearer good')]).toEqual([
      caller,
      caller,
      caller,
    ]);
    expect(keys.asked).toBe(2);
  });

  it('notes each use of a key with the time at which the request began, and no use of an unknown one', () => {
    const uses: [string, number][] = [];
    const call = calling(new Keys(), uses);
    const socket = {};
    for (const authorization of ['Bearer good', 'Bearer good', 'Bearer bad', undefined])
      call(socket, authorization);
    expect(uses).toEqual([
      ['key', 7],
      ['key', 7],
    ]);
  });

  it('asks again on a connection once what it knew is too old', () => {
    const keys = new Keys();
    const call = calling(keys);
    const socket = {};
    call(socket, 'Bearer good');
    keys.known = undefined;
    keys.nowMs = 1_000;
    expect(call(socket, 'Bearer good')).toBeUndefined();
  });

  it('asks again for the caller of a request once what it knew is too old, and not before', async () => {
    const keys = new Keys();
    const { callerNow } = contexts(keys)({}, 'Bearer good');
    expect([callerNow?.(), keys.asked]).toEqual([caller, 1]);
    keys.nowMs = 1_000;
    expect([await callerNow?.(), keys.asked]).toEqual([caller, 2]);
    keys.known = undefined;
    expect(await callerNow?.()).toBeUndefined();
  });

  it('takes no key for another one that was sent before on the connection, and none for a missing one', () => {
    const call = calling(new Keys());
    const socket = {};
    call(socket, 'Bearer good');
    expect([call(socket, 'Bearer bad'), call(socket, undefined), call(socket, 'Basic good')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
