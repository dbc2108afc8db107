import { useLayoutEffect, useState } from 'preact/hooks';
import { Choice } from '../choice';
import { useWords } from '../language';
import { NAMED_MAX, useServers } from '../queries';
import { isId } from './user-ids';

interface OfId {
  /** Empty for all. */
  readonly id: string;
  readonly isNameHidden?: boolean;
  readonly onChange: (id: string) => void;
}

/** The servers of the bot by name; a field for the id where it has registered none, or more than a list can offer. */
export function ServerChoice(given: OfId) {
  const { t } = useWords();
  const { data: servers } = useServers();
  if (servers !== undefined && (servers.length === 0 || servers.length >= NAMED_MAX))
    return <IdField name={t('serverId')} {...given} />;
  const { id: chosen, onChange, ...rest } = given;
  return (
    <Choice
      name={t('server')}
      all={t('allServers')}
      of={servers?.map(({ guild_id: id, name }) => [id, name ?? id] as const) ?? []}
      chosen={chosen || undefined}
      onChoose={(id) => onChange(id ?? '')}
      {...rest}
    />
  );
}

/** A field that takes effect once it has a whole id, or none. */
export function IdField({ name, id, isNameHidden = false, onChange }: OfId & { readonly name: string }) {
  const { t } = useWords();
  const [text, setText] = useState(id);
  useLayoutEffect(() => setText(id), [id]);
  const isBad = text !== '' && !isId(text);
  const take = (): void => {
    if (!isBad && text !== id) onChange(text);
  };
  return (
    <label>
      {isNameHidden ? <span class="hidden">{name}</span> : name}
      <input
        inputMode="numeric"
        autocomplete="off"
        placeholder={isNameHidden ? name : t('all')}
        title={isBad ? t('badId') : undefined}
        value={text}
        aria-invalid={isBad}
        onInput={(event) => setText(event.currentTarget.value.trim())}
        onChange={take}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          // It takes effect by itself, not with its form.
          event.preventDefault();
          take();
        }}
      />
    </label>
  );
}
