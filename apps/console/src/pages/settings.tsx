import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { Schemas } from '@lethe/sdk';
import { useWords } from '../language';
import { Copy, When } from '../parts';
import { useBot } from '../queries';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { submits, useSingle } from '../confirm';
import { Loaded } from '../ui';
import { useDraft } from './draft';
import { Lacks } from './lacks';
import { NoticeSection } from './notice';
import { faultsOf, Field, Refusal, SaveBar } from './settings-form';
import { Servers } from './settings-servers';
import { Webhook } from './settings-webhook';

type Bot = Schemas['BotView'];

/** What a team sets of its bot: name, contact, webhook, servers. */
export function SettingsPage() {
  const { t } = useWords();
  const bot = useBot();
  const mayChange = useAllowed('admin');
  return (
    <Loaded from={bot}>
      {(found) => (
        <>
          <Lacks scopes={['write', 'erase', 'admin']} />
          <section class="setting">
            <h2>{t('botTitle')}</h2>
            <p class="lead">{t('botLead')}</p>
            {mayChange ? <BotForm bot={found} /> : <BotFacts bot={found} />}
          </section>
          <section class="setting">
            <h2>{t('webhookTitle')}</h2>
            <p class="lead">{t('webhookLead')}</p>
            <Webhook bot={found} />
          </section>
          <section class="setting">
            <h2>{t('serversTitle')}</h2>
            <p class="lead">{t('serversLead')}</p>
            <Servers />
          </section>
          <NoticeSection />
          <section class="setting">
            <h2>{t('botIds')}</h2>
            <Ids bot={found} />
          </section>
          <section class="setting">
            <h2>{t('endTitle')}</h2>
            <p class="lead">{t('endText', { bot_id: found.id })}</p>
          </section>
        </>
      )}
    </Loaded>
  );
}

function BotForm({ bot }: { readonly bot: Bot }) {
  const words = useWords();
  const { t } = words;
  const queries = useQueryClient();
  const draft = useDraft({ name: bot.name, privacy_contact: bot.privacy_contact ?? '' });
  const save = useMutation<Bot, Error, typeof draft.values>({
    mutationFn: () => {
      const { name, privacy_contact: contact } = draft.changed;
      return lethe.bots.change({
        ...(name !== undefined && { name }),
        ...(contact !== undefined && { privacy_contact: contact.trim() === '' ? null : contact.trim() }),
      });
    },
    onSuccess: (changed, sent) => {
      queries.setQueryData(['bot'], changed);
      draft.settle(sent);
    },
  });
  const begin = useSingle(save.isPending, save.error, () => save.mutate(draft.values));
  const faults = faultsOf(save.error, words);
  const field = (name: 'name' | 'privacy_contact') => ({
    value: draft.values[name],
    fault: faults.get(name),
    onInput: (value: string) => draft.set({ [name]: value }),
  });
  return (
    <form noValidate onSubmit={submits(begin)}>
      <Field label={t('botName')} {...field('name')} />
      <Field
        label={t('privacyContact')}
        hint={t('privacyContactHint')}
        inputMode="email"
        {...field('privacy_contact')}
      />
      <Refusal error={save.error} beside={(name) => name in draft.values} />
      <SaveBar draft={draft} save={save} />
    </form>
  );
}

function BotFacts({ bot }: { readonly bot: Bot }) {
  const { t } = useWords();
  return (
    <dl class="facts">
      <dt>{t('botName')}</dt>
      <dd>
        <bdi>{bot.name}</bdi>
      </dd>
      <dt>{t('privacyContact')}</dt>
      <dd>
        <bdi>{bot.privacy_contact ?? t('noContactYet')}</bdi>
      </dd>
    </dl>
  );
}

function Ids({ bot }: { readonly bot: Bot }) {
  const { t } = useWords();
  return (
    <dl class="facts">
      <dt>{t('botId')}</dt>
      <dd>
        <code>{bot.id}</code> <Copy of={bot.id} />
        <span class="note since">{t('botIdHint', { bot_id: bot.id })}</span>
      </dd>
      <dt>{t('platformBotId')}</dt>
      <dd>
        <code>{bot.platform_bot_id}</code> <Copy of={bot.platform_bot_id} />
      </dd>
      <dt>{t('registeredAt')}</dt>
      <dd>
        <When at={bot.created_at} />
      </dd>
    </dl>
  );
}
