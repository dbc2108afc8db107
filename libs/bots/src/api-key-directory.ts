import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { UnitOfWork } from '@app/database';
import { Caller, type LetheRequest, type RequestContext } from '@app/http';
import { Clock, CONFIG, type Config, type Moment } from '@app/kernel';
import type { NextFunction, Response } from 'express';
import { isApiKey, keyDigest } from './api-key';
import type { KeyUses } from './key-uses';
import { Tiers } from './tiers';

/** Most callers kept in memory. */
const CACHED_MAX = 10_000;
/** Timers may fire a little early. */
const MARGIN_MS = 50;

/** Times that must be equal in all processes on one database. */
@Injectable()
export class ApiKeyTimes {
  /** How long a process trusts a key it has read. A deletion waits as long before its answer. In milliseconds. */
  believedMs = 1_000;
  /** Lets that time pass. */
  pause: (ms: number) => Promise<unknown> = (ms) => pause(ms);
}

/** A caller, trusted for a time since it was read. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly readAt: Moment;
  /** When the key expires; Infinity for one that lasts. */
  readonly expiresAtMs: number;
  /** Whether the look-up is discarded. */
  isDiscarded: boolean;
}

interface KeyRow {
  readonly id: string;
  readonly platform_bot_id: string;
  readonly tier: string | null;
  readonly suspended_at: string | null;
  readonly key_id: string;
  readonly prefix: string;
  readonly scopes: number;
  readonly expires_at: string | null;
}

const OF_DIGEST = `SELECT bots.id, bots.platform_bot_id, bots.tier, bots.suspended_at,
    api_keys.id AS key_id, api_keys.prefix, api_keys.scopes, api_keys.expires_at
  FROM api_keys JOIN bots ON bots.id = api_keys.bot_id WHERE api_keys.digest = ?`;

/**
 * Finds the bot of a key, from memory if possible. In this process a deleted key is refused from the commit that deletes
 * it: `forget` runs between that commit and its answer, and discards look-ups in progress. Other processes refuse the key
 * once {@link forgottenEverywhere} has resolved.
 */
@Injectable()
export class ApiKeyDirectory {
  private readonly callers = new Map<string, KnownCaller>();
  /** The number of calls of {@link forget}. */
  private generation = 0;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly times: ApiKeyTimes,
    private readonly tiers: Tiers,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  private get believedMs(): number {
    // A SQLite file has one process.
    return this.config.database.engine === 'sqlite' ? Infinity : this.times.believedMs;
  }

  /** The bot that owns `key`; undefined when the key is unknown. */
  identify(key: string): KnownCaller | undefined | Promise<KnownCaller | undefined> {
    const digest = keyDigest(key);
    const known = this.callers.get(digest);
    if (known !== undefined && this.isCurrent(known)) return known;
    return isApiKey(key) ? this.lookUp(digest) : undefined;
  }

  /** Whether an earlier look-up of a caller is still valid. */
  isCurrent({ isDiscarded, readAt, expiresAtMs }: KnownCaller): boolean {
    const { believedMs } = this;
    return (
      !isDiscarded &&
      (believedMs === Infinity || this.clock.passedMs(readAt) < believedMs) &&
      (expiresAtMs === Infinity || expiresAtMs > this.clock.nowMs())
    );
  }

  /** Discards all earlier look-ups of a bot. Call it after the commit that changed its keys or its standing. */
  forget(botId: string): void {
    this.generation++;
    this.discard((known) => known.caller.botId === botId);
  }

  /** Resolves when no other process can trust a key that it read before the call. */
  async forgottenEverywhere(): Promise<void> {
    if (this.believedMs !== Infinity) await this.times.pause(this.believedMs + MARGIN_MS);
  }

  private async lookUp(digest: string): Promise<KnownCaller | undefined> {
    const { generation } = this;
    const readAt = this.clock.moment();
    const found = await this.unitOfWork.get<KeyRow>(OF_DIGEST, digest);
    const expiresAtMs = found?.expires_at == null ? Infinity : Date.parse(found.expires_at);
    if (found === undefined || expiresAtMs <= this.clock.nowMs()) {
      this.callers.delete(digest);
      return undefined;
    }
    const { id, platform_bot_id, key_id, prefix, scopes, suspended_at } = found;
    const limit = this.tiers.limitOf(found);
    const caller = new Caller(
      ...([id, platform_bot_id, limit, key_id, scopes] as const),
      ...([suspended_at !== null, `key:${prefix}`] as const),
    );
    // An act during the look-up may have voided the key: what was read holds for this request alone.
    const isDiscarded = generation !== this.generation;
    const known = { caller, readAt, expiresAtMs, isDiscarded };
    return isDiscarded ? known : this.keep(digest, known);
  }

  /** Keeps one of several look-ups of a key at the same time, so that {@link forget} finds all that is trusted. */
  private keep(digest: string, known: KnownCaller): KnownCaller {
    const present = this.callers.get(digest);
    if (present !== undefined && this.isCurrent(present)) return present;
    if (this.callers.size >= CACHED_MAX) this.discard(() => true);
    this.callers.set(digest, known);
    return known;
  }

  private discard(isMeant: (known: KnownCaller) => boolean): void {
    for (const [digest, known] of this.callers) {
      if (!isMeant(known)) continue;
      known.isDiscarded = true;
      this.callers.delete(digest);
    }
  }
}

/** Identifies the caller (RFC 6750) before the rate limiter runs. The guard refuses unknown callers. */
export function identify(keys: ApiKeyDirectory, uses: Pick<KeyUses, 'note'>) {
  // The last caller on each connection. Bots reuse connections: each key is hashed once, not for every request.
  const remembered = new WeakMap<object, { readonly authorization: string; readonly known: KnownCaller }>();
  return (request: LetheRequest, _response: Response, next: NextFunction): void => {
    const { authorization } = request.headers;
    if (authorization === undefined) return next();
    const { context, socket } = request;
    const find = (): ReturnType<ApiKeyDirectory['identify']> => {
      const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
      return key === undefined ? undefined : keys.identify(key);
    };
    const admit = (known: KnownCaller): void => {
      const caller = callerOf(known, context);
      context.caller = caller;
      context.callerNow = () => {
        if (keys.isCurrent(known)) return caller;
        return Promise.resolve(find()).then((now) => now && callerOf(now, context));
      };
      uses.note(known.caller, context.startedMs);
    };
    const last = remembered.get(socket);
    if (last?.authorization === authorization && keys.isCurrent(last.known)) {
      admit(last.known);
      return next();
    }
    const proceed = (known: KnownCaller | undefined): void => {
      if (known !== undefined) {
        admit(known);
        remembered.set(socket, { authorization, known });
      }
      next();
    };
    const found = find();
    if (!(found instanceof Promise)) return proceed(found);
    found.then(proceed, (fault: Error) => {
      context.identityFault = fault;
      next();
    });
  };
}

function callerOf({ caller }: KnownCaller, { consoleLimit }: RequestContext): Caller {
  return consoleLimit === undefined ? caller : caller.inConsole();
}
