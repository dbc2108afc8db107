import { useWords } from './language';
import { days } from './times';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A value in its words: objects and lists as nested lists. `type` is that of its field, where it has one. */
export function Value({ of, type }: { readonly of: unknown; readonly type?: string | undefined }) {
  const { t, language } = useWords();
  if (typeof of === 'boolean') return <>{t(of ? 'yes' : 'no')}</>;
  const isEmpty = typeof of === 'object' && Object.keys(of ?? {}).length === 0;
  if (isEmpty || of === undefined || of === '') return <span class="small">{t('noValue')}</span>;
  if (Array.isArray(of))
    return (
      <ul class="listed">
        {of.map((item: unknown, at) => (
          <li key={at}>
            <Value of={item} />
          </li>
        ))}
      </ul>
    );
  if (typeof of === 'object')
    return (
      <dl class="nested">
        {Object.entries(of as object).map(([name, value]: [string, unknown]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value of={value} />
            </dd>
          </div>
        ))}
      </dl>
    );
  if (typeof of !== 'string') return <bdi>{JSON.stringify(of)}</bdi>;
  const isDay = type === 'date' && DATE.test(of) && !Number.isNaN(Date.parse(of));
  return <bdi class="lines-kept">{isDay ? days(language, 'UTC').format(new Date(of)) : of}</bdi>;
}
