import { Fragment } from 'preact';
import { useContext } from 'preact/hooks';
import { useWords } from '../language';
import { Copy } from '../parts';
import { SessionContext } from '../session';
import {
  addressOf,
  countryName,
  draftOf,
  type Notice,
  type NoticeText,
  TEXT_NAMES,
  TEXTS,
} from './notice-draft';

/** Where everybody reads the notice, or that nobody can. */
export function PublicAddress({ of, bot }: { readonly of: Notice; readonly bot: string }) {
  const { t } = useWords();
  const { public_url: publicUrl } = useContext(SessionContext);
  if (of.public !== true) return <p class="small">{t('noticeIsOff')}</p>;
  const address = addressOf(bot, publicUrl);
  return (
    <dl class="facts">
      <dt>{t('noticeAddress')}</dt>
      <dd>
        <code>{address}</code> <Copy of={address} />
        <br />
        <a href={address} target="_blank" rel="noreferrer">
          {t('noticeOpen')}
        </a>
      </dd>
    </dl>
  );
}

const isDecision = (name: NoticeText): boolean => name.startsWith('automated');

/** What is said, for a key that may only look. */
export function NoticeFacts({ of, bot }: { readonly of: Notice; readonly bot: string }) {
  const { t, language } = useWords();
  const { recipients, automated_decisions: automated, ...texts } = draftOf(of);
  const said = TEXT_NAMES.filter((name) => texts[name] !== '');
  const isEmpty = said.length === 0 && recipients.length === 0 && automated === '';
  const fact = (name: NoticeText) => (
    <Fragment key={name}>
      <dt>{t(TEXTS[name])}</dt>
      <dd>
        <bdi>{texts[name]}</bdi>
      </dd>
    </Fragment>
  );
  return (
    <>
      <section class="setting">
        <h2>{t('noticePublicTitle')}</h2>
        <PublicAddress of={of} bot={bot} />
      </section>
      <section class="setting">
        <h2>{t('noticeSettings')}</h2>
        {isEmpty && <p class="empty">{t('noticeNothing')}</p>}
        <dl class="facts">
          {said.filter((name) => !isDecision(name)).map(fact)}
          {automated !== '' && (
            <>
              <dt>{t('noticeAutomated')}</dt>
              <dd>{t(`noticeAutomated_${automated}`)}</dd>
            </>
          )}
          {said.filter(isDecision).map(fact)}
          {recipients.map(({ name, country, ...rest }, at) => (
            <Fragment key={at}>
              <dt>{t('noticeRecipient', { number: at + 1 })}</dt>
              <dd>
                <bdi>{name}</bdi>
                {country !== '' && `, ${countryName(language, country) ?? country}`}
                {Object.values(rest)
                  .filter((text) => text !== '')
                  .map((text, place) => (
                    <span key={place} class="since">
                      <bdi>{text}</bdi>
                    </span>
                  ))}
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
    </>
  );
}
