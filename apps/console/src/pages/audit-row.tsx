import { useWords, type Words } from '../language';
import { Copy, ServerName, UserLink } from '../parts';
import { useNamesOfCategories } from '../queries';
import { Code } from '../ui';
import { Value } from '../value';
import { EventCheck } from './audit-checks';
import type { AuditFilter } from './audit-filter';
import type { ShownEvent } from './audit-walk';
import { actOf, actorOf, lineOf, wordedOf, type Wording } from './audit-line';

/** What tells a key from the others: every key begins with `sk_live_` or `sk_test_`. */
const shortOf = (prefix: string): string => prefix.replace(/^sk_[a-z]+_(?=.)/, '');

/** An actor in words: the beginning of a key is part of it. */
function actorIn({ t, named }: Words, actor: string): string {
  return actor.startsWith('key:')
    ? t('actorKey', { prefix: shortOf(actor.slice(4)) })
    : named('actor', actor);
}

/** Who has acted: the actor that the service names, or the bot for its own entries. */
export function Who({ event }: { readonly event: ShownEvent }) {
  const words = useWords();
  const actor = actorOf(event);
  if (actor !== undefined) return <bdi title={actor}>{actorIn(words, actor)}</bdi>;
  return event.source === 'client' ? <span title="client">{words.t('ownEvent')}</span> : <>–</>;
}

/** What happened. An objection or a restriction has its own word: the type of its event says the consequence alone. */
export function What({ event, class: look }: { readonly event: ShownEvent; readonly class?: string }) {
  const { named } = useWords();
  const { event_type: type } = event;
  const act = actOf(event);
  return (
    <span class={look} title={type}>
      {act === undefined ? named('event', type) : named('act', act)}
    </span>
  );
}

export function ErasedOr({
  event,
  children,
}: {
  readonly event: ShownEvent;
  readonly children: preact.ComponentChildren;
}) {
  const { t } = useWords();
  return event.erased === true ? <em>{t('eraseMark')}</em> : <>{children}</>;
}

/** The words for what the service writes into details. */
function useWording(): Wording {
  const { named, language } = useWords();
  const labels = useNamesOfCategories(language);
  return { named, labelOf: (category) => labels.get(category) ?? category };
}

/** The details in one line; the whole line on hover. */
export function DetailsLine({ event }: { readonly event: ShownEvent }) {
  const line = lineOf(event, useWording());
  return line === '' ? <bdi>–</bdi> : <bdi title={line}>{line}</bdi>;
}

/** The details in one line, which unfolds what is below it. */
export function Line({
  event,
  isOpen,
  onClick,
}: {
  readonly event: ShownEvent;
  readonly isOpen: boolean;
  readonly onClick: () => void;
}) {
  const { t } = useWords();
  return (
    <button class="log-line" type="button" aria-expanded={isOpen} onClick={onClick}>
      <span class="hidden">{t('details')}: </span>
      <DetailsLine event={event} />
    </button>
  );
}

/** What is below a row: all that is known of its event, and its check. */
export function Below({
  event,
  columns,
  onOnly,
}: {
  readonly event: ShownEvent;
  readonly columns: number;
  readonly onOnly: (filter: AuditFilter) => void;
}) {
  const { t, time } = useWords();
  const { id, user_id: user, guild_id: server } = event;
  const details = wordedOf(event, useWording());
  const only = (filter: AuditFilter, text: string) => (
    <button class="quiet" type="button" onClick={() => onOnly(filter)}>
      {text}
    </button>
  );
  return (
    <tr>
      <td class="below" colSpan={columns}>
        <dl class="nested">
          <div>
            <dt>{t('exactTime')}</dt>
            <dd>
              {time(event.created_at)} <span class="small">({event.created_at})</span>
            </dd>
          </div>
          <div>
            <dt>{t('source')}</dt>
            <dd>
              <Code kind="source" of={event.source} />
            </dd>
          </div>
          <div>
            <dt>{t('user')}</dt>
            <dd>
              <ErasedOr event={event}>
                <UserLink user={user} server={server} /> {only({ user }, t('onlyUser'))}
              </ErasedOr>
            </dd>
          </div>
          <div>
            <dt>{t('server')}</dt>
            <dd>
              <ErasedOr event={event}>
                <ServerName id={server} /> <Copy of={server} /> {only({ server }, t('onlyServer'))}
              </ErasedOr>
            </dd>
          </div>
          <div>
            <dt>{t('details')}</dt>
            <dd>
              {event.unreadable === true ? t('unreadable') : details === null ? '–' : <Value of={details} />}
            </dd>
          </div>
          <div>
            <dt>{t('eventId')}</dt>
            <dd>
              <code>{id}</code> <Copy of={id} />
            </dd>
          </div>
        </dl>
        <EventCheck event={event} />
      </td>
    </tr>
  );
}
