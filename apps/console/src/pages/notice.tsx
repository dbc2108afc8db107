import { useRef } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { Confirm, submits, useSingle } from '../confirm';
import { useWords } from '../language';
import { When } from '../parts';
import { useBot } from '../queries';
import { lethe } from '../service';
import { useAllowed } from '../session';
import type { TextName } from '../texts';
import { Loaded } from '../ui';
import { useDraft } from './draft';
import { Lacks } from './lacks';
import {
  AUTOMATED,
  changeOf,
  draftOf,
  type Notice,
  type NoticeText,
  recipientsOf,
  TEXTS,
} from './notice-draft';
import { NoticeFacts, PublicAddress } from './notice-facts';
import { Recipients } from './notice-recipients';
import { faultsOf, Field, Refusal, SaveBar } from './settings-form';
import './notice.css';

const useNotice = () => useQuery({ queryKey: ['notice'], queryFn: () => lethe.bots.noticeSettings() });

/** The way from the settings to the notice. */
export function NoticeSection() {
  const { t } = useWords();
  const mayChange = useAllowed('admin');
  return (
    <section class="setting">
      <h2>{t('noticeSettings')}</h2>
      <p class="lead">{t('noticeLead')}</p>
      <Link href="/notice">{t(mayChange ? 'noticeToForm' : 'noticeToFacts')}</Link>
    </section>
  );
}

/** What the privacy notice says about the bot (Art. 13 GDPR). */
export function NoticePage() {
  const { t } = useWords();
  const mayChange = useAllowed('admin');
  const bot = useBot();
  const notice = useNotice();
  return (
    <>
      <p>
        <Link href="/settings">← {t('settings')}</Link>
      </p>
      <p class="small">
        {t('noticeLead')} {t('noticeOneLanguage')} <Link href="/reports">{t('noticeGaps')}</Link>
      </p>
      <Lacks scopes={['admin']} />
      <Loaded from={bot}>
        {({ id }) => (
          <Loaded from={notice}>
            {(found) =>
              mayChange ? <NoticeForm notice={found} bot={id} /> : <NoticeFacts of={found} bot={id} />
            }
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

/** Another page has saved recipients since those of this one were read. */
class RecipientsChanged extends Error {}

function NoticeForm({ notice, bot }: { readonly notice: Notice; readonly bot: string }) {
  const words = useWords();
  const { t } = words;
  const queries = useQueryClient();
  const draft = useDraft(draftOf(notice));
  const { values } = draft;
  /** The recipients that were changed into those of the draft, which are sent as a whole. */
  const recipientsBefore = useRef('');
  const save = useMutation({
    mutationFn: async ({ sent, isSure }: { readonly sent: typeof values; readonly isSure: boolean }) => {
      const change = changeOf(draft.changed, sent);
      if (change.recipients !== undefined && !isSure) {
        const stored = recipientsOf(await lethe.bots.noticeSettings());
        if (stored !== recipientsBefore.current) throw new RecipientsChanged();
      }
      return lethe.bots.changeNoticeSettings(change);
    },
    onSuccess: (saved, { sent }) => {
      queries.setQueryData(['notice'], saved);
      recipientsBefore.current = recipientsOf(saved);
      draft.settle(sent);
    },
  });
  const isAsked = save.error instanceof RecipientsChanged;
  const begin = useSingle(save.isPending, save.error, () => save.mutate({ sent: values, isSure: false }));
  const faults = faultsOf(save.error, words);
  const text = (name: NoticeText, hint?: TextName) => ({
    label: t(TEXTS[name]),
    hint: hint && t(hint),
    value: values[name],
    fault: faults.get(name),
    onInput: (value: string) => draft.set({ [name]: value }),
  });
  const both = (name: 'interests' | 'source' | 'automated_decisions', hint: TextName) => (
    <>
      <Field lang="de" rows={3} {...text(`${name}_de`, hint)} />
      <Field lang="en" rows={3} {...text(`${name}_en`)} />
    </>
  );
  return (
    <form noValidate onSubmit={submits(begin)}>
      <section class="setting">
        <h2>{t('noticePublicTitle')}</h2>
        <p class="lead">{t('noticePublicLead')}</p>
        <label class="check">
          <input
            type="checkbox"
            checked={values.public}
            onChange={(event) => draft.set({ public: event.currentTarget.checked })}
          />{' '}
          {t('noticePublic')}
        </label>
        <p class="small">{t('noticePublicHint')}</p>
        <PublicAddress of={notice} bot={bot} />
      </section>
      <section class="setting">
        <h2>{t('noticeResponsible')}</h2>
        <div class="pair">
          <Field {...text('controller_name', 'noticeControllerHint')} />
          <Field inputMode="email" {...text('controller_email', 'noticeControllerEmailHint')} />
        </div>
        <Field rows={2} {...text('controller_address')} />
        <div class="pair">
          <Field {...text('officer_name', 'noticeOfficerHint')} />
          <Field inputMode="email" {...text('officer_email')} />
        </div>
      </section>
      <section class="setting">
        <h2>{t('noticeRecipients')}</h2>
        <p class="lead">{t('noticeRecipientsLead')}</p>
        <Recipients
          of={values.recipients}
          faults={faults}
          onChange={(recipients) => {
            if (draft.changed.recipients === undefined) recipientsBefore.current = recipientsOf(notice);
            draft.set({ recipients });
          }}
        />
      </section>
      <section class="setting">
        <h2>{t('noticeFurther')}</h2>
        <div class="pair">
          {both('interests', 'noticeInterestsHint')}
          {both('source', 'noticeSourceHint')}
        </div>
        <div class="pair">
          <Automated
            of={values.automated_decisions}
            onChange={(to) => draft.set({ automated_decisions: to })}
          />
        </div>
        {values.automated_decisions === 'exist' && (
          <div class="pair">{both('automated_decisions', 'noticeAutomatedHint')}</div>
        )}
      </section>
      <section class="setting">
        <h2>{t('noticeAuthorityTitle')}</h2>
        <div class="pair">
          <Field {...text('authority_name')} />
          <Field inputMode="url" {...text('authority_url')} />
          <Field inputMode="url" {...text('notice_url', 'noticeOwnPolicyHint')} />
        </div>
      </section>
      <Refusal
        error={isAsked ? null : save.error}
        beside={(name) => name in values || name.startsWith('recipients[')}
      />
      {notice.updated_at !== null && (
        <p class="small">
          {t('noticeLastChange')} <When at={notice.updated_at} />
        </p>
      )}
      <SaveBar draft={draft} save={save} />
      {isAsked && (
        <Confirm
          title={t('noticeOverTitle')}
          note={t('noticeOverNote')}
          act={t('noticeOver')}
          isRunning={false}
          onConfirm={() => save.mutate({ sent: values, isSure: true })}
          onCancel={() => {
            save.reset();
            void queries.invalidateQueries({ queryKey: ['notice'] });
          }}
        />
      )}
    </form>
  );
}

type AutomatedChoice = (typeof AUTOMATED)[number];

function Automated({
  of,
  onChange,
}: {
  readonly of: AutomatedChoice;
  readonly onChange: (to: AutomatedChoice) => void;
}) {
  const { t } = useWords();
  return (
    <div class="field">
      <label>
        {t('noticeAutomated')}
        <select value={of} onChange={(event) => onChange(event.currentTarget.value as AutomatedChoice)}>
          {AUTOMATED.map((each) => (
            <option key={each} value={each}>
              {t(`noticeAutomated_${each}`)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
