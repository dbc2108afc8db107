import { Injectable } from '@nestjs/common';

/**
 * One thing that has been done, as a trace shows it. Name and attributes come from closed lists and declared routes: no
 * id of a user, guild or bot, no path, query, address, header, body or value.
 */
export interface EndedSpan {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly tookMs: number;
  /** `error.type` marks a failure. */
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The `traceparent` (W3C Trace Context) of a caller who may name the parent. */
  readonly parent?: string;
}

/**
 * Where modules tell what they have done, once it has ended. Without a receiver a caller makes nothing:
 * `spans.receive?.(…)` does not evaluate its argument then.
 */
@Injectable()
export class Spans {
  receive: ((span: EndedSpan) => void) | undefined = undefined;
}
