import { AUDIT_EVENT_TYPES } from '@lethe/sdk';
import { useEffect, useState } from 'preact/hooks';
import { Choice } from '../choice';
import { useWords } from '../language';
import { useServers } from '../queries';
import { type AuditFilter, SOURCES } from './audit-filter';
import { isId } from './user-ids';

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
      <ServerChoice server={filter.server ?? ''} onChange={(id) => change('server', id)} />
      <IdField title={t('userId')} id={filter.user ?? ''} onChange={(id) => change('user', id)} />
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

/** The servers of the bot by name; a field for the id where the bot has registered none. */
function ServerChoice({
  server,
  onChange,
}: {
  readonly server: string;
  readonly onChange: (id: string) => void;
}) {
  const { t } = useWords();
  const { data: servers } = useServers();
  if (servers?.length === 0) return <IdField title={t('serverId')} id={server} onChange={onChange} />;
  return (
    <Choice
      name={t('server')}
      isNameHidden
      all={t('allServers')}
      of={servers?.map(({ guild_id: id, name }) => [id, name ?? id] as const) ?? []}
      chosen={server || undefined}
      onChoose={(id) => onChange(id ?? '')}
    />
  );
}

/** A field that takes effect once it has a whole id, or none. */
function IdField({
  title,
  id,
  onChange,
}: {
  readonly title: string;
  readonly id: string;
  readonly onChange: (id: string) => void;
}) {
  const { t } = useWords();
  const [text, setText] = useState(id);
  useEffect(() => setText(id), [id]);
  const isBad = text !== '' && !isId(text);
  return (
    <label>
      <span class="hidden">{title}</span>
      <input
        inputMode="numeric"
        autocomplete="off"
        placeholder={title}
        title={isBad ? t('badId') : undefined}
        value={text}
        aria-invalid={isBad}
        onInput={(event) => setText(event.currentTarget.value.trim())}
        onChange={() => {
          if (!isBad) onChange(text);
        }}
      />
    </label>
  );
}
