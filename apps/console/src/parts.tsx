import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useCopied } from './copied';
import { useWords } from './language';
import { useNamesOfCategories, useNamesOfServers } from './queries';
import { ago } from './times';

const MINUTE_MS = 60_000;

/** A time as people say it ("3 minutes ago"), said anew each minute; the exact one on hover. */
export function When({ at }: { readonly at: string | null | undefined }) {
  const { t, time, language } = useWords();
  const [, setMinutes] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setMinutes((before) => before + 1), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  if (at == null) return <>–</>;
  return (
    <time class="line" dateTime={at} title={time(at)}>
      {ago(language, at) ?? t('justNow')}
    </time>
  );
}

/** A button that copies an id. */
export function Copy({ of, onCopied }: { readonly of: string; readonly onCopied?: () => void }) {
  const { t } = useWords();
  const [isCopied, copy] = useCopied(of, onCopied);
  if (copy === undefined) return null;
  const name = isCopied ? t('copied') : t('copyId', { id: of });
  return (
    <button class="copy" type="button" title={name} aria-label={name} onClick={copy}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={isCopied ? 'M2 8l4 4 8-9' : 'M5 5h9v9H5zM11 5V2H2v9h3'} />
      </svg>
    </button>
  );
}

const VERSION_SHOWN = 24;

/** A version of a consent; a digest, which the service makes where the bot names no version, by its beginning. */
export function Version({ of }: { readonly of: string }) {
  return <bdi title={of}>{of.length > VERSION_SHOWN ? `${of.slice(0, VERSION_SHOWN - 10)}…` : of}</bdi>;
}

/** A server by its name, its id on hover; by its id where the bot gave no name. */
export function ServerName({ id }: { readonly id: string }) {
  const names = useNamesOfServers();
  return <bdi title={id}>{names.get(id) ?? id}</bdi>;
}

/** A category by its label in the language of the page, its key on hover. */
export function CategoryName({ of }: { readonly of: string }) {
  const { language } = useWords();
  const labels = useNamesOfCategories(language);
  return <bdi title={of}>{labels.get(of) ?? of}</bdi>;
}

/** The address of the page of a user in a server, below `/console`. */
export const userPath = (user: string, server: string): string => `/users/${server}/${user}`;

/** The id of a user, which leads to the user's page, and a button that copies it. */
export function UserLink({ user, server }: { readonly user: string; readonly server: string }) {
  return (
    <span class="line">
      <Link href={userPath(user, server)}>{user}</Link> <Copy of={user} />
    </span>
  );
}
