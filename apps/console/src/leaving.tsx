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
  const mayLeave = useRef(false);
  useLayoutEffect(() => {
    if (!isAsked) return undefined;
    mayLeave.current = false;
    const unload = (event: BeforeUnloadEvent): void => event.preventDefault();
    const click = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      const isOwn = link instanceof HTMLAnchorElement && link.target === '' && !link.hash;
      // A question of the page is enough.
      if (
        !isOwn ||
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.shiftKey ||
        mayLeave.current
      )
        return;
      event.preventDefault();
      event.stopPropagation();
      setLeaving(() => () => navigate(`~${link.pathname}${link.search}`));
    };
    // Where the browser has it: the way back.
    const moves = (window as { readonly navigation?: EventTarget }).navigation;
    const traverse = (event: Event): void => {
      if ((event as Traversal).navigationType !== 'traverse' || !event.cancelable) return;
      if (event.defaultPrevented || mayLeave.current) return;
      event.preventDefault();
      setLeaving(() => () => history.back());
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
        mayLeave.current = true;
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
