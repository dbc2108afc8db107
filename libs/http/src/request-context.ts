import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { ApiError } from '@app/kernel';
import type { RateDecision } from '@app/limits';
import type { HttpMeter } from '@app/metrics';

/** The authenticated bot of a request. */
export class Caller {
  constructor(
    readonly botId: string,
    readonly platformBotId: string,
    /** Requests per minute of the bot's tier. */
    readonly limit: number,
  ) {}
}

/** What Lethe knows of one request, from its first middleware to its log line. */
export class RequestContext {
  caller: Caller | undefined = undefined;
  rate: RateDecision | undefined = undefined;

  constructor(
    readonly id: string,
    readonly startedMs: number,
    readonly logger: Logger,
    readonly meter: HttpMeter,
  ) {}
}

export interface LetheRequest extends Request {
  context: RequestContext;
  /** The parsed JSON object, the fault that kept it from being one, or undefined where no body was sent. */
  body: Record<string, unknown> | ApiError | undefined;
}

export interface LetheResponse extends Response {
  req: LetheRequest;
}
