import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { Answer } from '@lethe/sdk';
import { Confirm, submits } from '../confirm';
import { useWords } from '../language';
import { useCategories, useNamesOfCategories } from '../queries';
import { lethe } from '../service';
import { useAllowed, useHas } from '../session';
import { Code, Fault } from '../ui';
import { useServerToType, useWhere } from './user-typed';
import type { Ids } from './user-ids';

type Refused = Answer<'GET /data/refusals/{user_id}'>;
type Act = 'object' | 'restrict' | 'unrestrict';

/** An act about one category, or about all of them where the category is null. */
interface Asked {
  readonly act: Act;
  readonly category: string | null;
}

const nameOf = ({ act, category }: Asked): string => `${act} ${category ?? ''}`;

/** The words of an end: that of everything ends the restrictions of single categories, too. */
const endOf = <T extends 'Act' | 'Title'>(category: string | null, of: T) =>
  category === null ? (`unrestrictAll${of}` as const) : (`unrestrict${of}` as const);

/** An objection to everything does not end with a category. */
const isObjectionToAll = (kind: Act | 'objection' | 'restriction', category: string | null): boolean =>
  category === null && (kind === 'object' || kind === 'objection');

/** The legal bases that a user can object to. */
const OBJECTABLE = ['legitimate_interests', 'public_task'];

function useRefusals(ids: Ids) {
  return useQuery({
    queryKey: ['refusals', ids],
    queryFn: (): Promise<Refused> => lethe.data.refusals(ids),
  });
}

/** What an act or a refusal is about, as people read it. */
function useWhat(): (isObjection: boolean, category: string | null) => string {
  const { t, language } = useWords();
  const labels = useNamesOfCategories(language);
  return (isObjection, category) => {
    if (category === null) return t(isObjection ? 'refusalAllObjectable' : 'refusalAll');
    return labels.get(category) ?? category;
  };
}

/** What the user has objected to or restricted; nothing where nothing is in force. */
export function Refusals({ ids, onActed }: { readonly ids: Ids; readonly onActed: () => void }) {
  const { t } = useWords();
  const { data, error } = useRefusals(ids);
  const whatOf = useWhat();
  const canEnd = useAllowed('write');
  const [asked, setAsked] = useState<Asked | undefined>();
  const { objections = [], restrictions = [] } = data ?? {};
  const lines = [
    ...restrictions.map((each) => ({ ...each, kind: 'restriction' as const })),
    ...objections.map((each) => ({ ...each, kind: 'objection' as const })),
  ];
  return (
    <>
      <Fault error={error} isOldShown={data !== undefined} />
      {lines.length > 0 && (
        <section>
          <h2>{t('refusals')}</h2>
          <ul class="plain refused">
            {lines.map(({ kind, category, since }) => (
              <li key={`${kind} ${category ?? ''}`}>
                <span>
                  <Code kind="act" of={kind} class="badge pending" />{' '}
                  <bdi title={category ?? undefined}>{whatOf(kind === 'objection', category)}</bdi>{' '}
                  <Since at={since} />
                </span>
                {canEnd && kind === 'restriction' && (
                  <button type="button" onClick={() => setAsked({ act: 'unrestrict', category })}>
                    {t(endOf(category, 'Act'))}
                  </button>
                )}
                <span class="small">
                  {t(isObjectionToAll(kind, category) ? 'objectionAllMeans' : `${kind}Means`)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Act ids={ids} asked={asked} onEnd={() => setAsked(undefined)} onActed={onActed} />
    </>
  );
}

function Since({ at }: { readonly at: string }) {
  const { t, time } = useWords();
  return (
    <time class="small" dateTime={at}>
      {t('refusalSince', { time: time(at) })}
    </time>
  );
}

/** The acts that can be recorded of a user, with what each is about; none that is in force already. */
function useOffered(ids: Ids): readonly Asked[] {
  const declared = useCategories().data ?? [];
  const { data } = useRefusals(ids);
  const [canObject, canRestrict] = [useHas('erase'), useHas('write')];
  if (data === undefined) return [];
  const isNew = (of: Refused['objections'], key: string | null): boolean =>
    !of.some(({ category }) => category === null || category === key);
  const objectable = declared.filter(({ legal_basis: basis }) => OBJECTABLE.includes(basis));
  const keys = (of: typeof declared): (string | null)[] =>
    of.length === 0 ? [] : [null, ...of.map(({ key }) => key)];
  const offered = (act: Act, of: (string | null)[], present: Refused['objections']): Asked[] =>
    of.filter((key) => isNew(present, key)).map((category) => ({ act, category }));
  return [
    ...(canRestrict ? offered('restrict', keys(declared), data.restrictions) : []),
    ...(canObject ? offered('object', keys(objectable), data.objections) : []),
  ];
}

/** Records an objection or a restriction that a user has told the team of. */
export function Refusing({ ids, onActed }: { readonly ids: Ids; readonly onActed: () => void }) {
  const { t } = useWords();
  const offered = useOffered(ids);
  const whatOf = useWhat();
  const [chosen, setChosen] = useState('');
  const [asked, setAsked] = useState<Asked | undefined>();
  return (
    <section class="facts link" aria-label={t('refusalOpen')}>
      <p>{t('refusalLead')}</p>
      <form onSubmit={submits(() => setAsked(offered.find((each) => nameOf(each) === chosen)))}>
        <label>
          {t('refusalWhat')}
          <select required value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
            <option value="">{t('refusalChoose')}</option>
            {offered.map((each) => (
              <option key={nameOf(each)} value={nameOf(each)}>
                {`${t(each.act === 'object' ? 'objectAct' : 'restrictAct')}: ${whatOf(each.act === 'object', each.category)}`}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">{t('refusalRecord')}</button>
      </form>
      <Act
        ids={ids}
        asked={asked}
        onEnd={() => setAsked(undefined)}
        onActed={() => {
          setChosen('');
          onActed();
        }}
      />
    </section>
  );
}

/** The question before an act, the act, and what became of it. An objection erases values, so that it needs a text typed. */
function Act({
  ids,
  asked,
  onEnd,
  onActed,
}: {
  readonly ids: Ids;
  readonly asked: Asked | undefined;
  readonly onEnd: () => void;
  readonly onActed: () => void;
}) {
  const { t } = useWords();
  const queries = useQueryClient();
  const whatOf = useWhat();
  const server = useServerToType(ids.guild_id);
  const where = useWhere(ids.guild_id);
  const act = useMutation({
    mutationFn: ({ act: name, category }: Asked) =>
      lethe.data[name]({ ...ids, ...(category !== null && { category }) }),
    onSuccess: () => {
      onEnd();
      onActed();
      void queries.invalidateQueries();
    },
  });
  return (
    <>
      <div role="status">
        {act.isSuccess && asked === undefined && <p class="notice good">{t(`${act.variables.act}Done`)}</p>}
      </div>
      {asked !== undefined && (
        <Confirm
          title={t(asked.act === 'unrestrict' ? endOf(asked.category, 'Title') : `${asked.act}Title`, {
            where,
            what: whatOf(asked.act === 'object', asked.category),
          })}
          note={t(isObjectionToAll(asked.act, asked.category) ? 'objectAllNote' : `${asked.act}Note`)}
          typed={asked.act === 'object' ? (asked.category ?? server) : undefined}
          act={t(asked.act === 'unrestrict' ? endOf(asked.category, 'Act') : 'refusalRecord')}
          isRunning={act.isPending}
          error={act.error}
          onConfirm={() => act.mutate(asked)}
          onCancel={() => {
            act.reset();
            onEnd();
          }}
        />
      )}
    </>
  );
}
