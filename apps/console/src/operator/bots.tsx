import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { lethe } from '../service';
import { Confirm, Loaded, Table } from '../ui';
import { useOperatorWords } from './words';

const COUNTED_MAX = 10_000;

type Bot = Awaited<ReturnType<typeof lethe.operator.suspend>>;

/** All bots with tier, state and size; suspends and resumes them. */
export function OperatorBots() {
  const { t, time, count } = useOperatorWords();
  const queries = useQueryClient();
  const [page, setPage] = useState(1);
  const [asked, setAsked] = useState<Bot | undefined>();
  const bots = useQuery({
    queryKey: ['operator', 'bots', page],
    queryFn: () => lethe.operator.bots().page(page),
  });
  const change = useMutation({
    mutationFn: ({ id, state }: Bot) =>
      state === 'suspended' ? lethe.operator.resume(id) : lethe.operator.suspend(id),
    onSuccess: () => {
      setAsked(undefined);
      void queries.invalidateQueries({ queryKey: ['operator'] });
    },
  });
  const counted = (number: number): string =>
    number < COUNTED_MAX ? count(number) : `${count(number)} ${t('orMore')}`;
  const ask = (bot: Bot): void => {
    change.reset();
    setAsked(bot);
  };
  return (
    <>
      {change.data !== undefined && (
        <p class="notice good" role="status">
          {change.data.name} {t(change.data.state === 'suspended' ? 'suspendedNow' : 'resumedNow')}
        </p>
      )}
      <Loaded from={bots}>
        {(found) => (
          <Table
            caption={t('bots')}
            of={found}
            onPage={setPage}
            columns={[
              {
                title: t('name'),
                cell: (bot) => (
                  <div>
                    {bot.name} <span class="since">{bot.platform_bot_id}</span>
                  </div>
                ),
              },
              {
                title: t('state'),
                cell: ({ state }) => <span class={`badge ${BADGES[state]}`}>{t(state)}</span>,
              },
              { title: t('tier'), cell: ({ tier }) => tier },
              { title: t('users'), cell: ({ subjects }) => counted(subjects) },
              { title: t('values'), cell: ({ values }) => counted(values) },
              { title: t('created'), cell: ({ created_at: at }) => time(at) },
              { title: t('lastUsed'), cell: ({ last_used_at: at }) => (at === null ? t('never') : time(at)) },
              {
                title: t('act'),
                cell: (bot) =>
                  bot.state === 'deleting' ? (
                    '–'
                  ) : (
                    <button type="button" onClick={() => ask(bot)}>
                      {t(bot.state === 'suspended' ? 'resume' : 'suspend')}
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {asked !== undefined && (
        <Question
          bot={asked}
          isRunning={change.isPending}
          error={change.error}
          onConfirm={() => change.mutate(asked)}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

const BADGES = { active: 'healthy', suspended: 'failing', deleting: 'gone' } as const;

/** The question before an act, which the typed id of the bot confirms. */
function Question({
  bot,
  ...rest
}: {
  readonly bot: Bot;
  readonly isRunning: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}) {
  const { t } = useOperatorWords();
  const isEnd = bot.state === 'suspended';
  return (
    <Confirm
      title={`${t(isEnd ? 'resumeTitle' : 'suspendTitle')} ${bot.name}`}
      note={t(isEnd ? 'resumeNote' : 'suspendNote')}
      typed={bot.platform_bot_id}
      act={t(isEnd ? 'resume' : 'suspend')}
      {...rest}
    />
  );
}
