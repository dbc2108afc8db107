import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Confirm } from './confirm';
import { useWords } from './language';
import type { TextName } from './texts';

/** What is lost with a page that is left, by the title and the note of its question. */
const LOSSES = {
  draft: ['leaveTitle', 'leaveNote'],
  secret: ['leaveSecretTitle', 'leaveSecretNote'],
  salt: ['leaveSaltTitle', 'leaveSaltNote'],
  erasure: ['leaveErasureTitle', 'leaveErasureNote'],
} as const satisfies Readonly<Record<string, readonly [TextName, TextName]>>;

/** Asks before a page is left that has what is kept nowhere else: by a link, the way back, or the end of the tab. */
export function Leaving({
  isAsked,
  loses,
}: {
  readonly isAsked: boolean;
  readonly loses: keyof typeof LOSSES;
}) {
  const { t } = useWords();
  const [title, note] = LOSSES[loses];
  const [, navigate] = useLocation();
  const [leaving, setLeaving] = useState<(() => void) | undefined>();
  /** The one way back that the answer has begun. Where it leads to the same page, the next one is asked about. */
  const mayGoBack = useRef(false);
  useLayoutEffect(() => {
    if (!isAsked) return undefined;
    mayGoBack.current = false;
    const unload = (event: BeforeUnloadEvent): void => event.preventDefault();
    const click = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      const isOwn = link instanceof HTMLAnchorElement && link.target === '' && !link.hash;
      // A link to the open page leaves nothing.
      if (!isOwn || (link.pathname === location.pathname && link.search === location.search)) return;
      // A question of the page is enough.
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      setLeaving(() => () => navigate(`~${link.pathname}${link.search}`));
    };
    // Where the browser has it: the way back.
    const moves = (window as { readonly navigation?: EventTarget }).navigation;
    const traverse = (event: Event): void => {
      if ((event as Traversal).navigationType !== 'traverse') return;
      const may = mayGoBack.current;
      mayGoBack.current = false;
      if (may || !event.cancelable || event.defaultPrevented) return;
      event.preventDefault();
      setLeaving(() => () => {
        mayGoBack.current = true;
        history.back();
      });
    };
    addEventListener('beforeunload', unload);
    document.addEventListener('click', click, true);
    moves?.addEventListener('navigate', traverse);
    return () => {
      removeEventListener('beforeunload', unload);
      document.removeEventListener('click', click, true);
      moves?.removeEventListener('navigate', traverse);
    };
  }, [isAsked]);
  return leaving === undefined ? null : (
    <Confirm
      title={t(title)}
      note={t(note)}
      act={t('leave')}
      isRunning={false}
      onConfirm={() => {
        setLeaving(undefined);
        leaving();
      }}
      onCancel={() => setLeaving(undefined)}
    />
  );
}

interface Traversal extends Event {
  readonly navigationType: string;
}
