import type { About, Act } from '@app/acts';
import { LinkEnded, type OpenLink, type PrivacyLinks } from './privacy-links.service';

interface OfLink<Input> {
  readonly link: OpenLink;
  readonly input: Input;
}

/**
 * An act of the interface for a page: refused as an unknown link where the link has ended since the page was opened. An erasure
 * stays complete although a form of its user waits for it.
 */
export function actOfLink<Input, State extends About, Change, View extends object>(
  act: Act<Input, State, Change, View>,
  links: PrivacyLinks,
): Act<OfLink<Input>, State, Change, View> {
  return {
    load: async (tx, given) => {
      const states = await act.load(
        tx,
        given.map(({ input }) => input),
      );
      const held: (State | undefined)[] = [];
      for (const [at, { link }] of given.entries()) {
        const state = states[at];
        const subject = state?.subject;
        const isThere = subject !== undefined && (await links.isThere(tx, link, subject));
        if (state !== undefined && !isThere && given.length === 1) throw new LinkEnded();
        // Of several it is run again alone.
        held.push(isThere ? state : undefined);
      }
      return held;
    },
    decide: (state, { input }, now) => act.decide(state, input, now),
    store: (tx, changes) => act.store(tx, changes),
  };
}
