import { useState } from 'preact/hooks';
import { LetheError } from '@lethe/sdk';

/** An act that was tried and has not succeeded. */
export interface Tried {
  readonly idempotencyKey: string;
  /** When it was tried first: what a request says of its time stays the same in a repeat. */
  readonly at: number;
}

/** How long the service keeps an answer: a repeat after it would be an act of its own, with the times of the first one. */
const KEPT_MS = 86_400_000;

/** Acts until each has succeeded: a repeat after a lost answer gets what the service has answered, with what it answers once. */
class Tries {
  private readonly kept = new Map<string, Tried>();

  has(act: unknown): boolean {
    return this.before(act) !== undefined;
  }

  /** The same as before for the same act. */
  of(act: unknown): Tried {
    const tried = this.before(act) ?? { idempotencyKey: newKey(), at: Date.now() };
    this.kept.set(JSON.stringify(act), tried);
    return tried;
  }

  private before(act: unknown): Tried | undefined {
    const tried = this.kept.get(JSON.stringify(act));
    return tried !== undefined && Date.now() - tried.at < KEPT_MS ? tried : undefined;
  }

  end(act: unknown): void {
    this.kept.delete(JSON.stringify(act));
  }

  /** Does an act of which nothing but the answer shows that it was done. */
  async run<Done>(act: unknown, send: (tried: Tried) => Promise<Done>): Promise<Done> {
    try {
      const done = await send(this.of(act));
      this.end(act);
      return done;
    } catch (error) {
      // What is asked for next is an act of its own.
      if (isRefused(error)) this.end(act);
      throw error;
    }
  }
}

const RUNNING: readonly unknown[] = ['idempotency_in_progress', 'deletion_in_progress'];

/** Whether the service has refused an act for good. One that is still being done, or waits for the limit, has an answer yet to come. */
const isRefused = (error: unknown): boolean =>
  error instanceof LetheError &&
  error.status !== undefined &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 429 &&
  !(error.status === 409 && RUNNING.includes(error.reason));

const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

export const useTries = (): Tries => useState(() => new Tries())[0];
