import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useMutation } from '@tanstack/preact-query';
import { LetheError } from '@lethe/sdk';
import { useTries } from '../idempotency';
import { useWords } from '../language';
import { Secret } from '../secret';
import { lethe, type Scope } from '../service';
import { useHas } from '../session';
import { submits, useSingle } from '../confirm';
import { Fault } from '../ui';
import type { Ids } from './user-ids';
import { isDirect } from './user-typed';

/** What a page for the user can offer, with the scope that the key of its link needs. */
const OFFERS = [
  ['view', 'read', 'linkView'],
  ['export', 'read', 'linkExport'],
  ['consent', 'write', 'linkConsent'],
  ['correct', 'write', 'linkCorrect'],
  ['forget', 'erase', 'linkForget'],
] as const satisfies readonly (readonly [string, Scope, string])[];
type Offer = (typeof OFFERS)[number][0];

const SPANS = [
  [900, 'linkQuarter'],
  [86_400, 'linkDay'],
  [604_800, 'linkWeek'],
] as const;

const isMissing = (error: Error | null): boolean => error instanceof LetheError && error.status === 404;

/** Makes a link to the privacy page of a user, which is shown once. */
export function PrivacyLink({ ids, isElsewhere }: { readonly ids: Ids; readonly isElsewhere: boolean }) {
  const { t, time } = useWords();
  const may: Record<string, boolean> = {
    read: useHas('read'),
    write: useHas('write'),
    erase: useHas('erase'),
  };
  const offered = OFFERS.filter(([, scope]) => may[scope] === true);
  const [language, setLanguage] = useState('');
  const [seconds, setSeconds] = useState<number>(SPANS[0][0]);
  const [isEverywhere, setEverywhere] = useState(false);
  const [without, setWithout] = useState<readonly Offer[]>([]);
  const allow = offered.map(([name]) => name).filter((name) => !without.includes(name));
  const tries = useTries();
  const make = useMutation({
    mutationFn: async () => {
      const link = {
        ...(isEverywhere ? { user_id: ids.user_id, scope: 'all_guilds' as const } : ids),
        ...(language !== '' && { language }),
        expires_in: seconds,
        allow,
      };
      const isRepeat = tries.has(link);
      const again = () => tries.run(link, (tried) => lethe.privacy.link(link, tried));
      const found = await again();
      // A repeat is answered the link of then, which may have ended.
      return isRepeat && Date.parse(found.expires_at) <= Date.now() ? again() : found;
    },
    onSuccess: () => end.reset(),
  });
  const end = useMutation({
    mutationFn: (id: string) => lethe.privacy.endLink(id),
    onSettled: (_, error) => {
      if (error === null || isMissing(error)) make.reset();
    },
  });
  const begin = useSingle(make.isPending, make.error, () => make.mutate());
  const made = make.data;
  const section = useRef<HTMLElement>(null);
  const shown = useRef(made);
  // The button that was pressed is no longer there.
  useLayoutEffect(() => {
    if (shown.current !== made) section.current?.focus();
    shown.current = made;
  }, [made]);
  return (
    <section class="facts link" tabIndex={-1} ref={section} aria-label={t('userLink')}>
      <p>{t('linkLead')}</p>
      {made === undefined ? (
        <form onSubmit={submits(begin)}>
          <div class="row">
            <label>
              {t('linkLanguage')}
              <select value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
                <option value="">{t('linkBrowser')}</option>
                <option value="de">Deutsch</option>
                <option value="en">English</option>
              </select>
            </label>
            <label>
              {t('linkSpan')}
              <select value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
                {SPANS.map(([each, name]) => (
                  <option key={each} value={each}>
                    {t(name)}
                  </option>
                ))}
              </select>
            </label>
            {isElsewhere && (
              <label>
                {t('server')}
                <select
                  value={isEverywhere ? 'all' : ''}
                  onChange={(event) => setEverywhere(event.currentTarget.value === 'all')}
                >
                  <option value="">{t(isDirect(ids.guild_id) ? 'linkDirect' : 'linkHere')}</option>
                  <option value="all">{t('userEveryServer')}</option>
                </select>
              </label>
            )}
          </div>
          <fieldset>
            <legend>{t('linkOffers')}</legend>
            {offered.map(([name, , text]) => (
              <label key={name} class="check">
                <input
                  type="checkbox"
                  checked={!without.includes(name)}
                  onChange={({ currentTarget: { checked } }) =>
                    setWithout(checked ? without.filter((each) => each !== name) : [...without, name])
                  }
                />{' '}
                {t(text)}
              </label>
            ))}
          </fieldset>
          <Fault error={make.error} />
          <button class="primary" type="submit" disabled={make.isPending || allow.length === 0}>
            {t('linkMake')}
          </button>
        </form>
      ) : (
        <>
          <Secret text={made.url} />
          <p>{t('linkEnds', { time: time(made.expires_at) })}</p>
          <Fault error={end.error} />
          <div class="actions">
            <button type="button" disabled={end.isPending} onClick={() => make.reset()}>
              {t('linkAnother')}
            </button>
            <button class="danger" type="button" disabled={end.isPending} onClick={() => end.mutate(made.id)}>
              {t('linkEnd')}
            </button>
          </div>
        </>
      )}
      {made === undefined && (end.isSuccess || isMissing(end.error)) && (
        <p class="notice good" role="status">
          {t('linkEnded')}
        </p>
      )}
    </section>
  );
}
