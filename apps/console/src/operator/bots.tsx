import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { Copy, When } from '../parts';
import { lethe } from '../service';
import { Confirm } from '../confirm';
import { Fault, PagedTable } from '../ui';
import { TierChoice } from './tier-choice';
import { useOperatorWords } from './words';

const COUNTED_MAX = 10_000;
const BADGES = { active: 'healthy', suspended: 'failing', deleting: 'gone' } as const;

type Bot = Awaited<ReturnType<typeof lethe.operator.suspend>>;

/** All bots with tier, state and size; suspends and resumes them, and changes their tiers. */
export function OperatorBots() {
  const { t, count } = useOperatorWords();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Bot | undefined>();
  const [done, setDone] = useState<string | undefined>();
  const status = useQuery({ queryKey: ['operator', 'status'], queryFn: () => lethe.operator.status() });
  const ended = (said: string): void => {
    setAsked(undefined);
    setDone(said);
    void queries.invalidateQueries({ queryKey: ['operator'] });
  };
  const change = useMutation({
    mutationFn: ({ id, state }: Bot) =>
      state === 'suspended' ? lethe.operator.resume(id) : lethe.operator.suspend(id),
    onSuccess: ({ name, state }) => ended(t(state === 'suspended' ? 'suspendedNow' : 'resumedNow', { name })),
  });
  const tier = useMutation({
    mutationFn: ({ id, to }: { readonly id: string; readonly to: string }) =>
      lethe.operator.setTier({ id, tier: to }),
    onSuccess: ({ name, tier: given }) => ended(t('tierNow', { name, tier: given })),
  });
  const counted = (number: number): string =>
    number < COUNTED_MAX ? count(number) : `${count(number)} ${t('orMore')}`;
  const ask = (bot: Bot): void => {
    change.reset();
    setAsked(bot);
  };
  return (
    <>
      <div role="status">{done !== undefined && <p class="notice good">{done}</p>}</div>
      <Fault error={tier.error} />
      <PagedTable
        queryKey={['operator', 'bots']}
        load={(page) => lethe.operator.bots().page(page)}
        caption={t('bots')}
        columns={[
          { title: t('name'), cell: (bot) => <Name of={bot} /> },
          { title: t('state'), cell: (bot) => <State of={bot} /> },
          {
            title: t('tier'),
            cell: (bot) => (
              <TierChoice
                key={`${bot.id} ${bot.stored_tier}`}
                bot={bot}
                tiers={status.data?.tiers ?? []}
                isRunning={tier.isPending}
                onChange={(to) => tier.mutate({ id: bot.id, to })}
              />
            ),
          },
          { title: t('users'), cell: ({ subjects }) => counted(subjects) },
          { title: t('values'), cell: ({ values }) => counted(values) },
          {
            title: t('lastUsed'),
            cell: ({ last_used_at: at }) => (at === null ? t('never') : <When at={at} />),
          },
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

function Name({ of: { name, platform_bot_id: id, created_at: at } }: { readonly of: Bot }) {
  const { t } = useOperatorWords();
  return (
    <>
      <bdi>{name}</bdi>
      <span class="since line">
        {id} <Copy of={id} />
      </span>
      <span class="since">
        {t('created')} <When at={at} />
      </span>
    </>
  );
}

function State({ of: { state, suspended_at: at } }: { readonly of: Bot }) {
  const { t } = useOperatorWords();
  return (
    <>
      <span class={`badge ${BADGES[state]}`} title={state === 'deleting' ? t('deletingNote') : undefined}>
        {t(state)}
      </span>
      {state === 'suspended' && (
        <span class="since">
          <When at={at} />
        </span>
      )}
    </>
  );
}

/** The question before an act, which the typed id of the bot on its platform confirms. */
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
      title={t(isEnd ? 'resumeTitle' : 'suspendTitle', { name: bot.name })}
      note={t(isEnd ? 'resumeNote' : 'suspendNote')}
      typed={bot.platform_bot_id}
      act={t(isEnd ? 'resume' : 'suspend')}
      {...rest}
    />
  );
}
