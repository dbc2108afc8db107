import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import { LetheError } from '@lethe/sdk';
import { useWords } from './language';
import type { Scope } from './service';
import { useScopeName } from './session';
import { type Kind, wordFor } from './words';

/** What a page needs of a query of the service. */
export interface Loading<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
  readonly refetch: () => unknown;
}

/** Shows what was loaded, or that it is being loaded, or why it was not. */
export function Loaded<T>({
  from,
  children,
}: {
  readonly from: Loading<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { t } = useWords();
  const { data, error } = from;
  const fault = <Fault error={error} onRetry={() => void from.refetch()} isOldShown={data !== undefined} />;
  if (data !== undefined) {
    return (
      <>
        {fault}
        {children(data)}
      </>
    );
  }
  if (error !== null) return fault;
  return (
    <p class="loading" role="status">
      {t('loading')}
    </p>
  );
}

/** Codes of many causes, of which the service says the one in English. */
const ENGLISH: readonly string[] = ['invalid_request', 'service_unavailable'];

/** An error in words, an unknown one also in its own, with the id by which the operator finds the request. */
export function Fault({
  error,
  onRetry,
  isOldShown = false,
  ofAct,
}: {
  readonly error: Error | null | undefined;
  readonly onRetry?: () => void;
  /** Whether what was loaded before is shown below. */
  readonly isOldShown?: boolean;
  /** What this error means for the act, in place of its own words. */
  readonly ofAct?: string | undefined;
}) {
  const { t, language } = useWords();
  const scopeName = useScopeName();
  const known = error instanceof LetheError ? error : undefined;
  // That the session has ended is said once for the whole page.
  if (error == null || (isOldShown && known?.status === 401)) return null;
  const lacks = known?.code === 'insufficient_scope' ? (known.details['required'] as Scope) : undefined;
  const says = (): string => {
    if (known === undefined) return t('pageFault');
    if (known.status === undefined) return t('serviceAway');
    if (lacks !== undefined) return `${t('forbidden')} ${scopeName(lacks)}`;
    if (known.code === 'rate_limit_exceeded') return t('tooManyRequests');
    return wordFor(language, 'error', known.code) ?? known.message;
  };
  return (
    <div class="notice bad" role="alert">
      {isOldShown && <p>{t('notReloaded')}</p>}
      <p>{ofAct ?? says()}</p>
      {ofAct === undefined && (known === undefined || ENGLISH.includes(known.code)) && (
        <p class="small" lang="en">
          {error.message}
        </p>
      )}
      {known?.requestId !== undefined && (
        <p class="small">
          {t('requestId')} {known.requestId}
        </p>
      )}
      {onRetry !== undefined && lacks === undefined && known?.status !== 401 && known?.status !== 404 && (
        <button type="button" onClick={onRetry}>
          {t('retry')}
        </button>
      )}
    </div>
  );
}

/** One page of a list. */
interface Paged<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly total_count: number;
  readonly total_pages: number;
}

interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ComponentChildren;
}

interface TableOf<Item> {
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly of: Paged<Item>;
  readonly onPage?: (page: number) => void;
  readonly below?: (item: Item) => ComponentChildren;
  /** What an empty list says. */
  readonly none?: string;
}

/**
 * A table that becomes a list of cards on a narrow screen, with the way to the next page where there are pages. `below` is
 * shown under the row of its entry. In place of a page that is no more, the last one is loaded.
 */
export function Table<Item>({ caption, columns, of, onPage, below, none }: TableOf<Item>) {
  const { t, count } = useWords();
  const last = Math.max(1, of.total_pages);
  const isBehind = onPage !== undefined && of.page > last;
  useEffect(() => {
    if (isBehind) onPage(last);
  }, [isBehind, last]);
  if (isBehind) return null;
  if (of.items.length === 0) return <p class="empty">{none ?? t('empty')}</p>;
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ title }) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {of.items.map((item, at) => (
              <Fragment key={at}>
                <tr>
                  {columns.map(({ title, cell }) => (
                    <td key={title} data-title={title}>
                      <div>{cell(item)}</div>
                    </td>
                  ))}
                </tr>
                {below?.(item)}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {onPage && of.total_pages > 1 && (
        <div class="pager">
          <button type="button" disabled={of.page <= 1} onClick={() => onPage(of.page - 1)}>
            {t('previous')}
          </button>
          <span>
            {t('page')} {count(of.page)} {t('of')} {count(last)} · {t('entries')} {count(of.total_count)}
          </span>
          <button type="button" disabled={of.page >= of.total_pages} onClick={() => onPage(of.page + 1)}>
            {t('next')}
          </button>
        </div>
      )}
    </>
  );
}

/** The table of a list of the service, which is loaded page by page. */
export function PagedTable<Item>({
  queryKey,
  load,
  ...table
}: Omit<TableOf<Item>, 'of' | 'onPage'> & {
  /** Without the page. */
  readonly queryKey: readonly unknown[];
  readonly load: (page: number) => Promise<Paged<Item>>;
}) {
  const [page, setPage] = useState(1);
  const list = useQuery({ queryKey: [...queryKey, page], queryFn: () => load(page) });
  return <Loaded from={list}>{(found) => <Table {...table} of={found} onPage={setPage} />}</Loaded>;
}

/** A name of the interface in words; the name itself is its title. */
export function Code({
  kind,
  of,
  class: look,
  children,
}: {
  readonly kind: Kind;
  readonly of: string;
  readonly class?: string;
  readonly children?: ComponentChildren;
}) {
  const { named } = useWords();
  return (
    <span class={look} title={of}>
      {named(kind, of)}
      {children}
    </span>
  );
}

/** A number with its name. */
export function Tile({ name, value }: { readonly name: string; readonly value: ComponentChildren }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
