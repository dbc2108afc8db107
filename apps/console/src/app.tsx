import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useQueryClient } from '@tanstack/preact-query';
import { Router } from 'wouter-preact';
import { Frame } from './frame';
import { firstLanguage, keepLanguage, type Language, LanguageContext, useWords } from './language';
import { OperatorShell } from './operator/shell';
import { AuditPage } from './pages/audit';
import { CategoriesPage } from './pages/categories';
import { CategoryPage, NewCategoryPage } from './pages/category';
import { CATEGORY_PATH, useCategoryTitle } from './pages/category-query';
import { NewTextPage } from './pages/category-text';
import { KeysPage } from './pages/keys';
import { NoticePage } from './pages/notice';
import { OverviewPage } from './pages/overview';
import { DossierPage, ReportsPage } from './pages/reports';
import { SettingsPage } from './pages/settings';
import { SignInPage } from './pages/sign-in';
import { USER_PATH, UserPage, useUserTitle } from './pages/user';
import { UsersPage } from './pages/users';
import { WebhooksPage } from './pages/webhooks';
import { type AnySession, forgetSession, isOfOperator, keptSession, onSessionEnd, signOut } from './service';
import { SessionContext } from './session';
import type { TextName } from './texts';
import { useBot } from './queries';

const PAGES: readonly (readonly [
  path: string,
  name: TextName,
  page: () => preact.JSX.Element,
  under?: string,
])[] = [
  ['/', 'overview', OverviewPage],
  ['/users', 'users', UsersPage],
  ['/categories', 'categories', CategoriesPage],
  ['/new-category', 'newCategory', NewCategoryPage, '/categories'],
  ['/new-text', 'newText', NewTextPage, '/categories'],
  ['/audit', 'audit', AuditPage],
  ['/webhooks', 'webhooks', WebhooksPage],
  ['/settings', 'settings', SettingsPage],
  ['/notice', 'noticeSettings', NoticePage, '/settings'],
  ['/keys', 'keys', KeysPage],
  ['/reports', 'reports', ReportsPage],
  ['/dossier', 'reports', DossierPage, '/reports'],
];

/** The console: the page to sign in, or the pages of a session. */
export function App() {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const [session, setSession] = useState<AnySession | undefined>(keptSession);
  const [hasBegun, setBegun] = useState(false);
  const [hasEnded, setEnded] = useState(false);
  const queries = useQueryClient();
  const change = (to: Language): void => {
    keepLanguage(to);
    setLanguage(to);
  };
  const begin = (begun: AnySession): void => {
    setBegun(true);
    setEnded(false);
    setSession(begun);
  };
  const leave = (): void => {
    forgetSession();
    queries.clear();
    setSession(undefined);
  };
  // A session that has ended has no cookie of its own: the one that is there is of another tab.
  const end = (): Promise<void> => (hasEnded ? Promise.resolve(leave()) : signOut().then(leave));
  useEffect(() => {
    document.documentElement.lang = language;
    onSessionEnd(() => {
      setEnded(true);
      const hasLoaded = queries
        .getQueryCache()
        .getAll()
        .some(({ state }) => state.data !== undefined);
      // What the page alone has, a salt or a text not yet saved, stays until it is left.
      if (hasLoaded) forgetSession();
      else leave();
    });
  }, [language]);
  const ended = hasEnded && <Ended onLeave={leave} />;
  return (
    <LanguageContext.Provider value={{ language, change }}>
      {session === undefined ? (
        <SignInPage hasEnded={hasEnded} onSession={begin} />
      ) : isOfOperator(session) ? (
        <Router base="/console">
          <OperatorShell notice={ended} hasBegun={hasBegun} onLeave={end} />
        </Router>
      ) : (
        <SessionContext.Provider value={session}>
          <Router base="/console">
            <Shell notice={ended} hasBegun={hasBegun} onLeave={end} />
          </Router>
        </SessionContext.Provider>
      )}
    </LanguageContext.Provider>
  );
}

/** Says that the session has ended, above a page that is still there. */
function Ended({ onLeave }: { readonly onLeave: () => void }) {
  const { t } = useWords();
  return (
    <div class="notice warn" role="alert">
      <p>{t('sessionEndedHere')}</p>
      <button type="button" onClick={onLeave}>
        {t('signInAgain')}
      </button>
    </div>
  );
}

function Shell({
  notice,
  hasBegun,
  onLeave,
}: {
  readonly notice: ComponentChildren;
  readonly hasBegun: boolean;
  readonly onLeave: () => Promise<void>;
}) {
  const { t, time } = useWords();
  const { data: bot } = useBot();
  const user = { path: USER_PATH, title: useUserTitle(), page: UserPage, under: '/users' };
  const title = useCategoryTitle();
  const category = { path: CATEGORY_PATH, title, page: CategoryPage, under: '/categories' };
  const pages = PAGES.map(([path, name, page, under]) => ({
    ...{ path, title: t(name), page },
    ...(under !== undefined && { under }),
  })).concat(user, category);
  const since = bot?.suspended_at;
  return (
    <Frame
      brand={bot?.name ?? t('appName')}
      pages={pages}
      notice={
        <>
          {notice}
          {since != null && <p class="notice bad">{t('suspendedSince', { time: time(since) })}</p>}
        </>
      }
      hasBegun={hasBegun}
      onLeave={onLeave}
    />
  );
}
