import { Failure, failureOf } from './failures';
import type { Session } from './session';

type Act = readonly [declaration: string, act: () => Promise<unknown>];

/**
 * Brings declarations to the service, one after the other. A failure names its own, of which the service knows one and the
 * file many, and those that were done before it.
 */
export async function inTurn({ url }: Session, acts: readonly Act[]): Promise<void> {
  const done: string[] = [];
  for (const [declaration, act] of acts) {
    try {
      await act();
    } catch (error) {
      const { exitCode, message, mend, code } = failureOf(error, url);
      const before = done.length === 0 ? [] : [`Done before: ${done.join(', ')}.`];
      throw new Failure(exitCode, `${declaration}: ${message}`, [mend, ...before].join(' ').trim(), code);
    }
    done.push(declaration);
  }
}
