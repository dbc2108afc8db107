import type { ErasureRequests } from '@app/gdpr';
import { ApiError } from '@app/kernel';
import { html, type Html } from './html';
import { cut } from './page-parts';
import type { HeldSubject, PastEvent } from './page-reading';
import type { Making } from './page-sections';

/** What the bot's own stores have answered to an erasure. */
export type Coverage = Awaited<ReturnType<ErasureRequests['status']>>['coverage'];

/** Of the newest erasure among events, newest first; undefined without one, and for a bot that had no stores. */
export async function coverageIn(
  requests: Pick<ErasureRequests, 'status'>,
  botId: string,
  events: readonly PastEvent[],
): Promise<Coverage> {
  const newest = events.find(
    ({ event_type: type, source }) => type === 'deletion_completed' && source === 'service',
  );
  const id = newest?.details?.['request_id'];
  if (typeof id !== 'string') return undefined;
  try {
    return (await requests.status(botId, id)).coverage;
  } catch (error) {
    // The record of the erasure has ended before the event.
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** What each store has answered to the erasure: what it keeps, until when and why, too (GDPR Art. 12(4), 17(3)). */
export function covered({ parts, room }: Making, { coverage }: HeldSubject): Html | false {
  if (coverage === undefined) return false;
  const { texts, language } = parts;
  const words = texts.holders.after;
  const line = ({ result, at, kept, ...holder }: (typeof coverage.holders)[number]): Html =>
    html`<li>
      <bdi>${cut(holder[`label_${language}`], 100)}</bdi>:
      ${
        result === 'kept' && kept !== undefined
          ? html`${words.kept(parts.time(kept.until))} <bdi>${cut(kept.basis)}</bdi>`
          : words.result[result as keyof typeof words.result]
      }
      ${at !== null && html`<small>${words.answered(parts.time(at))}</small>`}
    </li>`;
  return html`<section>
    <h2>${words.title}</h2>
    <p>${coverage.complete ? words.complete : words.open}</p>
    <ul>
      ${coverage.holders.map((each) => room.take(() => line(each)))}
    </ul>
  </section>`;
}
