import { Caller, type LetheRequest } from '@app/http';
import type { Response } from 'express';
import type { ApiKeyDirectory, KnownCaller } from './api-key-directory';
import { identify } from './identify.middleware';

const caller = new Caller('bot', '123456789012345678', 30);

/** A directory with one key that counts its look-ups. */
class Keys {
  asked = 0;
  nowMs = 0;
  known: string | undefined = 'good';

  identify(key: string): KnownCaller | undefined {
    this.asked++;
    return key === this.known ? { caller, untilMs: 1_000, generation: 0 } : undefined;
  }

  isCurrent({ untilMs }: KnownCaller): boolean {
    return untilMs > this.nowMs;
  }
}

function calling(keys: Keys) {
  const middleware = identify(keys as unknown as ApiKeyDirectory);
  return (socket: object, authorization?: string): Caller | undefined => {
    const request = { headers: { authorization }, socket, context: {} } as unknown as LetheRequest;
    middleware(request, {} as Response, () => undefined);
    return request.context.caller;
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

  it('asks again on a connection once what it knew is too old', () => {
    const keys = new Keys();
    const call = calling(keys);
    const socket = {};
    call(socket, 'Bearer good');
    keys.known = undefined;
    keys.nowMs = 1_000;
    expect(call(socket, 'Bearer good')).toBeUndefined();
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
