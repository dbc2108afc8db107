import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { useWords } from './language';
import { LanguageSwitch } from './language-switch';

/** One page of a session, by its path below `/console`. */
export interface FramedPage {
  readonly path: string;
  readonly title: string;
  readonly page: () => JSX.Element;
}

/** What is around every page of a session: whose it is, the way to the other pages, the end. The first page is the default. */
export function Frame({
  brand,
  pages,
  onLeave,
}: {
  readonly brand: string;
  readonly pages: readonly FramedPage[];
  readonly onLeave: () => void;
}) {
  const { t } = useWords();
  const [location] = useLocation();
  const active = pages.find(({ path }) => path === location) ?? pages[0];
  const title = active?.title ?? '';
  useEffect(() => {
    document.title = `${title} · ${t('appName')}`;
    document.querySelector('h1')?.focus();
  }, [title, t('appName')]);
  return (
    <>
      <a class="skip" href="#content">
        {title}
      </a>
      <header class="top">
        <p class="brand">
          <img src={iconAddress} alt="" width="24" height="24" /> {brand}
        </p>
        <div class="actions">
          <LanguageSwitch />
          <button class="quiet" type="button" onClick={onLeave}>
            {t('signOut')}
          </button>
        </div>
      </header>
      <Offline />
      <div class="frame">
        <nav aria-label={t('appName')}>
          {pages.map((each) => (
            <Link key={each.path} href={each.path} aria-current={location === each.path ? 'page' : undefined}>
              {each.title}
            </Link>
          ))}
        </nav>
        <main id="content">
          <h1 tabIndex={-1}>{title}</h1>
          <Switch>
            {pages.map(({ path, page }) => (
              <Route key={path} path={path} component={page} />
            ))}
            <Route component={pages[0]?.page} />
          </Switch>
        </main>
      </div>
    </>
  );
}

const iconAddress = new URL('./icon.svg', import.meta.url).href;

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
