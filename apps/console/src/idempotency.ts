import { useState } from 'preact/hooks';
import { LetheError } from '@lethe/sdk';

/** An act that was tried and has not succeeded. */
export interface Tried {
  readonly idempotencyKey: string;
  /** When it was tried first: what a request says of its time stays the same in a repeat. */
  readonly at: number;
}

/** Acts until each has succeeded: a repeat after a lost answer gets what the service has answered, with what it answers once. */
class Tries {
  private readonly kept = new Map<string, Tried>();

  has(act: unknown): boolean {
    return this.kept.has(JSON.stringify(act));
  }

  /** The same as before for the same act. */
  of(act: unknown): Tried {
    const name = JSON.stringify(act);
    const tried = this.kept.get(name) ?? { idempotencyKey: newKey(), at: Date.now() };
    this.kept.set(name, tried);
    return tried;
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
      // An erasure has removed the answer: what is asked for next is an act of its own.
      if (error instanceof LetheError && error.reason === 'idempotency_answer_erased') this.end(act);
      throw error;
    }
  }
}

const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

export const useTries = (): Tries => useState(() => new Tries())[0];
