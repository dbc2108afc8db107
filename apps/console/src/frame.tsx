import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useIsFetching, useQueryClient } from '@tanstack/preact-query';
import { Link, matchRoute, Route, Switch, useLocation, useRouter } from 'wouter-preact';
import { useWords } from './language';
import { LanguageSwitch } from './language-switch';
import { chooseScheme, chosenScheme, type Scheme, SCHEMES } from './scheme';

/** One page of a session, by its path below `/console`. */
interface FramedPage {
  readonly path: string;
  readonly title: string;
  readonly page: () => JSX.Element;
  /** The path in the menu under which a page is that is not in the menu itself. */
  readonly under?: string;
}

/** What is around every page of a session: whose it is, the way to the other pages, the end. */
export function Frame({
  brand,
  pages,
  notice,
  hasBegun,
  onLeave,
}: {
  readonly brand: string;
  readonly pages: readonly FramedPage[];
  /** What concerns every page, above its heading. */
  readonly notice?: ComponentChildren;
  /** Whether the session was begun here: the address may be that of a page of another one. */
  readonly hasBegun: boolean;
  /** Fails where the session has not ended. */
  readonly onLeave: () => Promise<void>;
}) {
  const { t } = useWords();
  const { parser } = useRouter();
  const [location, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [isStuck, setStuck] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const signOut = (): void => {
    setStuck(false);
    onLeave().catch(() => setStuck(true));
  };
  const active = pages.find(({ path }) => matchRoute(parser, path, location)[0]);
  const title = active?.title ?? t('noSuchPage');
  useEffect(() => {
    document.title = `${title} · ${t('appName')}`;
  }, [title, t('appName')]);
  useLayoutEffect(() => {
    if (hasBegun && active === undefined) navigate('/', { replace: true });
  }, []);
  // With the new page and not after it: a menu that is opened meanwhile stays open.
  useLayoutEffect(() => {
    setOpen(false);
    document.querySelector('h1')?.focus();
  }, [location]);
  return (
    <>
      <a class="skip" href="#content">
        {title}
      </a>
      <div class="frame">
        <header
          class="side"
          onKeyDown={({ key }) => {
            if (key !== 'Escape' || !isOpen) return;
            setOpen(false);
            button.current?.focus();
          }}
        >
          <p class="brand">
            <img src={iconAddress} alt="" width="24" height="24" /> <span title={brand}>{brand}</span>
          </p>
          <button
            class="menu"
            ref={button}
            type="button"
            aria-expanded={isOpen}
            aria-controls="menu"
            onClick={() => setOpen(!isOpen)}
          >
            {t('menu')}
          </button>
          <div id="menu" class={isOpen ? 'open' : undefined}>
            <nav aria-label={t('appName')}>
              {pages
                .filter(({ under }) => under === undefined)
                .map(({ path, title: name }) => (
                  <Link
                    key={path}
                    href={path}
                    // The link of the present page changes no location.
                    onClick={() => setOpen(false)}
                    aria-current={path === (active?.under ?? active?.path) ? 'page' : undefined}
                  >
                    {name}
                  </Link>
                ))}
            </nav>
            <div class="tools">
              <SchemeSwitch />
              <LanguageSwitch />
              <button type="button" onClick={signOut}>
                {t('signOut')}
              </button>
            </div>
          </div>
        </header>
        <main id="content">
          <Offline />
          {isStuck && (
            <p class="notice bad" role="alert">
              {t('notSignedOut')}
            </p>
          )}
          {notice}
          <div class="head">
            <h1 tabIndex={-1}>{title}</h1>
            <Refresh />
          </div>
          <Switch>
            {pages.map(({ path, page }) => (
              <Route key={path} path={path} component={page} />
            ))}
            <Route>
              <p>
                {t('noSuchPageNote')} <Link href="/">{pages[0]?.title}</Link>
              </p>
            </Route>
          </Switch>
        </main>
      </div>
    </>
  );
}

const iconAddress = new URL('./icon.svg', import.meta.url).href;

/** Loads all that the page shows anew. */
function Refresh() {
  const { t } = useWords();
  const queries = useQueryClient();
  const isLoading = useIsFetching() > 0;
  return (
    <button
      class="screen refresh"
      type="button"
      title={t('refresh')}
      aria-busy={isLoading}
      onClick={() => void queries.invalidateQueries()}
    >
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d="M14 8a6 6 0 1 1-2-4.5L14 5M14 1v4h-4" />
      </svg>
      <span>{t(isLoading ? 'refreshing' : 'refresh')}</span>
    </button>
  );
}

const SCHEME_NAMES = { system: 'schemeSystem', light: 'schemeLight', dark: 'schemeDark' } as const;

function SchemeSwitch() {
  const { t } = useWords();
  const [scheme, setScheme] = useState<Scheme>(chosenScheme);
  return (
    <label class="switch">
      <span class="hidden">{t('scheme')}</span>
      <select
        value={scheme}
        onChange={(event) => {
          const chosen = event.currentTarget.value as Scheme;
          chooseScheme(chosen);
          setScheme(chosen);
        }}
      >
        {SCHEMES.map((each) => (
          <option key={each} value={each}>
            {t(SCHEME_NAMES[each])}
          </option>
        ))}
      </select>
    </label>
  );
}

function Offline() {
  const { t } = useWords();
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return isOnline ? null : (
    <p class="notice warn" role="status">
      {t('offline')}
    </p>
  );
}
