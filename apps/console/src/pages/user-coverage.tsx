import type { Answer } from '@lethe/sdk';
import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import { When } from '../parts';
import { lethe } from '../service';
import { Code } from '../ui';

type Status = Answer<'GET /gdpr/forget-status/{id}'>;
type Covered = NonNullable<Status['coverage']>['holders'][number];

/** Results with which nothing is left to do in a store. */
const DONE = ['erased', 'nothing', 'kept'];

const lookOf = (result: string): string =>
  DONE.includes(result) ? 'good' : result === 'pending' ? 'pending' : 'bad';

/** What the bot's own stores have answered to an erasure; nothing for an erasure without such stores. */
export function Coverage({ of: id }: { readonly of: string }) {
  const { t } = useWords();
  const { data } = useQuery({
    queryKey: ['coverage', id],
    queryFn: (): Promise<Status> => lethe.privacy.status(id),
  });
  const { coverage, completed_at: since } = data ?? {};
  if (coverage === undefined) return null;
  return (
    <section>
      <h2>{t('coverage')}</h2>
      <p>{t(coverage.complete ? 'coverageComplete' : 'coverageOpen')}</p>
      <ul class="plain others">
        {coverage.holders.map((holder) => (
          <li key={holder.key}>
            <Store of={holder} since={since} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One store: what it has answered and when, or since when it has not. */
function Store({ of: holder, since }: { readonly of: Covered; readonly since: string | null | undefined }) {
  const { t, time, language } = useWords();
  const { result, at, kept } = holder;
  return (
    <>
      <bdi title={holder.key}>{holder[`label_${language}`]}</bdi>{' '}
      <Code kind="covered" of={result} class={`badge ${lookOf(result)}`} />{' '}
      <span class="small">
        {at === null && `${t('coverageTold')} `}
        <When at={at ?? since} />
        {kept !== undefined && (
          <>
            {' · '}
            <bdi>{kept.basis}</bdi> · {t('coverageUntil', { time: time(kept.until) })}
          </>
        )}
      </span>
    </>
  );
}
