import { useEffect, useState } from 'preact/hooks';
import { useQueryClient } from '@tanstack/preact-query';
import { Link, Route, Router, Switch, useLocation } from 'wouter-preact';
import { firstLanguage, keepLanguage, type Language, LanguageContext, useWords } from './language';
import { LanguageSwitch } from './language-switch';
import { AuditPage } from './pages/audit';
import { CategoriesPage } from './pages/categories';
import { KeysPage } from './pages/keys';
import { OverviewPage } from './pages/overview';
import { ReportsPage } from './pages/reports';
import { SignInPage } from './pages/sign-in';
import { UsersPage } from './pages/users';
import { WebhooksPage } from './pages/webhooks';
import { forgetSession, keptSession, onSessionEnd, type Session, signOut } from './service';
import { SessionContext } from './session';
import type { TextName } from './texts.en';
import { useBot } from './queries';

const PAGES: readonly (readonly [path: string, name: TextName, page: () => preact.JSX.Element])[] = [
  ['/', 'overview', OverviewPage],
  ['/users', 'users', UsersPage],
  ['/categories', 'categories', CategoriesPage],
  ['/audit', 'audit', AuditPage],
  ['/webhooks', 'webhooks', WebhooksPage],
  ['/keys', 'keys', KeysPage],
  ['/reports', 'reports', ReportsPage],
];

/** The console: the page to sign in, or the pages of a session. */
export function App() {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const [session, setSession] = useState<Session | undefined>(keptSession);
  const [hasEnded, setEnded] = useState(false);
  const queries = useQueryClient();
  const change = (to: Language): void => {
    keepLanguage(to);
    setLanguage(to);
  };
  const leave = (isEnded: boolean): void => {
    forgetSession();
    queries.clear();
    setEnded(isEnded);
    setSession(undefined);
  };
  useEffect(() => {
    document.documentElement.lang = language;
    onSessionEnd(() => leave(true));
  }, [language]);
  return (
    <LanguageContext.Provider value={{ language, change }}>
      {session === undefined ? (
        <SignInPage hasEnded={hasEnded} onSession={setSession} />
      ) : (
        <SessionContext.Provider value={session}>
          <Router base="/console">
            <Shell onLeave={() => void signOut().finally(() => leave(false))} />
          </Router>
        </SessionContext.Provider>
      )}
    </LanguageContext.Provider>
  );
}

function Shell({ onLeave }: { readonly onLeave: () => void }) {
  const { t } = useWords();
  const [location] = useLocation();
  const { data: bot } = useBot();
  const active = PAGES.find(([path]) => path === location)?.[1] ?? 'overview';
  useEffect(() => {
    document.title = `${t(active)} · ${t('appName')}`;
    document.querySelector('h1')?.focus();
  }, [active, t('appName')]);
  return (
    <>
      <a class="skip" href="#content">
        {t(active)}
      </a>
      <header class="top">
        <p class="brand">
          <img src={iconAddress} alt="" width="24" height="24" /> {bot?.name ?? t('appName')}
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
          {PAGES.map(([path, name]) => (
            <Link key={path} href={path} aria-current={location === path ? 'page' : undefined}>
              {t(name)}
            </Link>
          ))}
        </nav>
        <main id="content">
          <h1 tabIndex={-1}>{t(active)}</h1>
          <Switch>
            {PAGES.map(([path, , Page]) => (
              <Route key={path} path={path} component={Page} />
            ))}
            <Route component={OverviewPage} />
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
