import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { Schemas } from '@lethe/sdk';
import { useWords } from '../language';
import { Copy, When } from '../parts';
import { ERASURE_MAX_MS, lethe } from '../service';
import { useAllowed, useHas } from '../session';
import { Confirm, submits, useSingle } from '../confirm';
import { Loaded, Table } from '../ui';
import { faultsOf, Field, Refusal } from './settings-form';
import { serverToType } from './user-typed';

type Server = Schemas['ServerView'];
/** What is being done with a server, under its row. */
interface Act {
  readonly of: string;
  readonly act: 'rename' | 'remove';
}

/** Days until a deletion, as they are offered; 0 for at once. */
const GRACE_DAYS = [30, 14, 7, 1, 0];

export const nameOf = ({ name, guild_id: id }: Pick<Server, 'name' | 'guild_id'>): string =>
  name === null || name === '' ? id : name;

/** The servers of the bot: registered, named, removed at once or later. */
export function Servers() {
  const { t } = useWords();
  const queries = useQueryClient();
  const isAdmin = useHas('admin');
  const mayWrite = useAllowed('write') && isAdmin;
  const mayErase = useHas('erase') && isAdmin;
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<Act | undefined>();
  const [done, setDone] = useState('');
  const servers = useQuery({
    queryKey: ['servers', 'page', page],
    queryFn: () => lethe.servers.list().page(page),
  });
  const finish = (what: string): void => {
    setOpen(undefined);
    setDone(what);
    void queries.invalidateQueries({ queryKey: ['servers'] });
  };
  const keep = useMutation({
    mutationFn: (server: Server) => lethe.servers.cancelDeletion({ guild_id: server.guild_id }),
    onSuccess: (server) => finish(t('cancelled', { name: nameOf(server) })),
  });
  const toggle = (of: string, act: Act['act']): void =>
    setOpen(open?.of === of && open.act === act ? undefined : { of, act });
  const actsOf = (server: Server) => {
    const { guild_id: id, deletion_scheduled_for: at, unreadable } = server;
    if (unreadable === true) return null;
    if (at !== null)
      return mayWrite ? (
        <button type="button" disabled={keep.isPending} onClick={() => keep.mutate(server)}>
          {t('cancelDeletion')}
        </button>
      ) : null;
    return (
      <span class="inline">
        {mayWrite && (
          <button type="button" onClick={() => toggle(id, 'rename')}>
            {t('rename')}
          </button>
        )}
        {mayErase && (
          <button type="button" onClick={() => toggle(id, 'remove')}>
            {t('removeServer')}
          </button>
        )}
      </span>
    );
  };
  const columns = [
    {
      title: t('serverName'),
      cell: ({ name, unreadable }: Server) =>
        unreadable === true ? (
          <em>{t('serverUnreadable')}</em>
        ) : name === null || name === '' ? (
          <span class="small">{t('unnamed')}</span>
        ) : (
          <bdi>{name}</bdi>
        ),
    },
    {
      title: t('serverId'),
      cell: ({ guild_id: id }: Server) => (
        <span class="line">
          {id} <Copy of={id} />
        </span>
      ),
    },
    { title: t('registeredAt'), cell: ({ created_at: at }: Server) => <When at={at} /> },
    {
      title: t('deletion'),
      cell: ({ deletion_scheduled_for: at }: Server) =>
        at === null ? (
          '–'
        ) : (
          <span class="badge bad">
            {t('deletionAt')} · <When at={at} />
          </span>
        ),
    },
    ...(mayWrite || mayErase ? [{ title: t('changeServer'), cell: actsOf }] : []),
  ];
  return (
    <>
      <p role="status">{done}</p>
      <Refusal error={keep.error} />
      <Loaded from={servers}>
        {(found) => (
          <Table
            caption={t('serversTitle')}
            of={found}
            onPage={setPage}
            columns={columns}
            none={t('noServers')}
            below={(server) =>
              open?.of === server.guild_id && (
                <tr>
                  <td class="below" colSpan={columns.length}>
                    {open.act === 'rename' ? (
                      <NameForm server={server} onDone={finish} />
                    ) : (
                      <Removal server={server} onDone={finish} />
                    )}
                  </td>
                </tr>
              )
            }
          />
        )}
      </Loaded>
      {mayWrite && (
        <div class="add">
          <h3>{t('addServer')}</h3>
          <NameForm onDone={finish} />
        </div>
      )}
    </>
  );
}

/** Registers a server, or gives a registered one another name. */
function NameForm({ server, onDone }: { readonly server?: Server; readonly onDone: (what: string) => void }) {
  const words = useWords();
  const { t } = words;
  const [id, setId] = useState('');
  const [name, setName] = useState(server?.name ?? '');
  const save = useMutation({
    mutationFn: () =>
      lethe.servers.register({ guild_id: server?.guild_id ?? id.trim(), ...(name !== '' && { name }) }),
    onSuccess: (saved) => {
      setId('');
      setName('');
      onDone(server === undefined ? t('registered', { name: nameOf(saved) }) : t('saved'));
    },
  });
  const begin = useSingle(save.isPending, save.error, () => save.mutate());
  const faults = faultsOf(save.error, words);
  return (
    <form noValidate onSubmit={submits(begin)}>
      <div class="inline">
        {server === undefined && (
          <Field
            label={t('serverId')}
            inputMode="numeric"
            fault={faults.get('guild_id')}
            value={id}
            onInput={setId}
          />
        )}
        <Field
          label={t('serverName')}
          hint={t('serverNameHint')}
          fault={faults.get('name')}
          value={name}
          onInput={setName}
        />
        <button
          class="primary"
          type="submit"
          disabled={save.isPending || (server !== undefined && name === '')}
        >
          {t(server === undefined ? 'register' : 'rename')}
        </button>
      </div>
      <Refusal error={save.error} beside={(field) => field === 'guild_id' || field === 'name'} />
    </form>
  );
}

/** Removes a server with all of its users, after its name was typed, or its id where the name is none to type. */
function Removal({ server, onDone }: { readonly server: Server; readonly onDone: (what: string) => void }) {
  const { t, count, inDays } = useWords();
  const [days, setDays] = useState(GRACE_DAYS[0] ?? 0);
  const [isAsked, setAsked] = useState(false);
  const name = nameOf(server);
  const id = server.guild_id;
  const remove = useMutation({
    mutationFn: () => lethe.servers.delete({ guild_id: id, grace_days: days }, { timeoutMs: ERASURE_MAX_MS }),
    onSuccess: ({ erased_users: users }) =>
      onDone(days > 0 ? t('removedLater', { name }) : t('removedNow', { name, users: count(users) })),
  });
  return (
    <div class="inline">
      <label>
        {t('removeWhen')}
        <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          {GRACE_DAYS.map((each) => (
            <option key={each} value={each}>
              {each === 0 ? t('removeNow') : t('removeAfter', { when: inDays(each) })}
            </option>
          ))}
        </select>
      </label>
      <button class="danger" type="button" onClick={() => setAsked(true)}>
        {t('goOn')}
      </button>
      {isAsked && (
        <Confirm
          title={t('removeTitle', { name })}
          note={t(days === 0 ? 'removeNoteNow' : 'removeNoteLater', { id, when: inDays(days) })}
          typed={serverToType(id, name)}
          act={t(days === 0 ? 'removeAct' : 'removeSchedule')}
          progress={t('removing')}
          isRunning={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onCancel={() => {
            if (remove.isError) remove.reset();
            setAsked(false);
          }}
        />
      )}
    </div>
  );
}
