import { AUDIT_EVENT_TYPES } from '@lethe/sdk';
import { Choice } from '../choice';
import { useWords } from '../language';
import { type AuditFilter, SOURCES } from './audit-filter';
import { IdField, ServerChoice } from './server-choice';

/** The filters of the log in one line. Each takes effect when it is chosen. */
export function Filters({
  filter,
  onChange,
}: {
  readonly filter: AuditFilter;
  readonly onChange: (to: AuditFilter) => void;
}) {
  const { t, named } = useWords();
  const change = (name: keyof AuditFilter, value: string): void => {
    const { [name]: before, ...others } = filter;
    if (value !== (before ?? '')) onChange(value === '' ? others : { ...others, [name]: value });
  };
  const choice = (name: 'type' | 'source', title: string, all: string, options: readonly string[]) => (
    <Choice
      name={title}
      isNameHidden
      all={all}
      of={options.map((value) => [value, named(name === 'type' ? 'event' : 'source', value)])}
      chosen={filter[name]}
      onChoose={(value) => change(name, value ?? '')}
    />
  );
  const day = (name: 'from' | 'to', title: string) => (
    <label class="day">
      <span>{title}</span>
      <input
        type="date"
        value={filter[name] ?? ''}
        onChange={(event) => change(name, event.currentTarget.value)}
      />
    </label>
  );
  return (
    <form class="log-filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {choice('type', t('event'), t('allEvents'), AUDIT_EVENT_TYPES)}
      <ServerChoice isNameHidden id={filter.server ?? ''} onChange={(id) => change('server', id)} />
      <IdField isNameHidden name={t('userId')} id={filter.user ?? ''} onChange={(id) => change('user', id)} />
      {choice('source', t('source'), t('allSources'), SOURCES)}
      {day('from', t('fromDay'))}
      {day('to', t('toDay'))}
      {Object.keys(filter).length > 0 && (
        <button class="quiet" type="button" title={t('clearFilters')} onClick={() => onChange({})}>
          <span aria-hidden="true">✕</span>
          <span class="hidden">{t('clearFilters')}</span>
        </button>
      )}
    </form>
  );
}
