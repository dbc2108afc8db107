import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { useWords } from '../language';
import { useBot } from '../queries';
import { SessionContext } from '../session';
import { keptInDiscord, keptOnPage, type Side, SIDES, USER_WORDS } from './category-words';

export interface PreviewedCategory {
  readonly label_de: string;
  readonly label_en: string;
  readonly description_de: string;
  readonly description_en: string;
  readonly legal_basis: string;
  readonly requires_consent?: boolean;
  readonly reason_de?: string;
  readonly reason_en?: string;
  readonly retention_days: number | null;
  readonly fields: readonly { readonly label_de: string; readonly label_en: string }[];
}

interface PreviewedText {
  readonly title: string;
  readonly body: string;
  readonly accept_label: string;
  readonly decline_label: string;
  readonly privacy_notice: string;
  readonly categories: readonly { readonly key: string; readonly label: string; readonly text: string }[];
}

/** Both languages beside each other, each as users see it on their page and in Discord. */
function Sides({
  children,
}: {
  readonly children: (side: Side) => readonly [page: ComponentChildren, discord: ComponentChildren];
}) {
  const { t } = useWords();
  return (
    <section class="sides" aria-label={t('preview')}>
      <h2>{t('preview')}</h2>
      {(['previewPage', 'previewDiscord'] as const).map((place, at) => (
        <div key={place}>
          <h3>{t(place)}</h3>
          <div class="side-by-side">
            {SIDES.map((side) => (
              <div key={side} lang={side} class={at === 0 ? 'users-page' : 'discord'}>
                {children(side)[at]}
              </div>
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}

export function CategoryPreview({ of }: { readonly of: PreviewedCategory }) {
  const { data: bot } = useBot();
  const grace = useContext(SessionContext).revoked_data_grace_days;
  return (
    <Sides>
      {(side) => {
        const { page, pageBasis, discord } = USER_WORDS[side];
        const label = of[`label_${side}`];
        // A language without a purpose shows the other one.
        const purposes = [of[`description_${side}`], of.description_en, of.description_de];
        const purpose = purposes.find((text) => text.trim() !== '');
        const basis = of.legal_basis as keyof typeof pageBasis;
        const after = basis === 'consent' ? grace : null;
        const days = of.retention_days;
        const reason = of.requires_consent === false ? of[`reason_${side}`] : undefined;
        const fields = of.fields.map((field) => field[`label_${side}`]).join(', ');
        return [
          <article key="page">
            <h4>
              <bdi>{label || '…'}</bdi>
            </h4>
            <dl>
              <dt>{page.purpose}</dt>
              <dd>
                <bdi>{purpose ?? page.noPurpose}</bdi>
              </dd>
              <dt>{page.basis}</dt>
              <dd>{pageBasis[basis]}</dd>
              {reason !== undefined && (
                <>
                  <dt>{page.withoutConsentReason}</dt>
                  <dd>
                    <bdi>{reason || '…'}</bdi>
                  </dd>
                </>
              )}
              <dt>{page.retention}</dt>
              <dd>{keptOnPage(side, days, after)}</dd>
            </dl>
          </article>,
          <div key="discord" class="embed">
            <strong>{discord.about_title.replace('{bot}', () => bot?.name ?? '')}</strong>
            <p>
              <b>
                <bdi>{label || '…'}</bdi>
              </b>
              {purpose !== undefined && `\n${purpose}`}
              {fields !== '' && `\n${discord.about_fields.replace('{fields}', () => fields)}`}
              {`\n${discord.about_basis.replace('{basis}', discord[`basis_${basis}`])}`}
              {reason !== undefined && `\n${discord.about_without_consent.replace('{reason}', () => reason)}`}
              {`\n${keptInDiscord(side, days, after)}`}
            </p>
          </div>,
        ];
      }}
    </Sides>
  );
}

export function TextPreview({
  texts,
  version,
}: {
  readonly texts: Readonly<Record<Side, PreviewedText>>;
  readonly version: string;
}) {
  const { t } = useWords();
  return (
    <Sides>
      {(side) => {
        const text = texts[side];
        const { page, discord } = USER_WORDS[side];
        if (text.title.trim() === '' && text.body.trim() === '') {
          const none = <p class="small">{t('previewNone')}</p>;
          return [none, none];
        }
        const { categories } = text;
        return [
          <article key="page">
            <h4>{page.asked}</h4>
            <details open>
              <summary>{page.words}</summary>
              <p>
                <strong>{text.title}</strong>
              </p>
              <p class="words">{text.body}</p>
              <ul>
                {categories.map(({ key, label, text: words }) => (
                  <li key={key}>
                    {label}: {words}
                  </li>
                ))}
              </ul>
            </details>
            {categories.length > 0 && <p>{page.choose}</p>}
            {categories.map(({ key, label }) => (
              <p key={key} class="box">
                ☐ <bdi>{label}</bdi>
              </p>
            ))}
            <p>
              <span class="users-button">{categories.length > 0 ? page.accept : page.acceptAll}</span>{' '}
              <span class="users-button quiet">{page.decline}</span>
            </p>
          </article>,
          <div key="discord">
            <div class="embed">
              <p>
                <strong>{text.title}</strong>
                {`\n\n${text.body}`}
                {categories.map(({ key, label, text: words }) => (
                  <span key={key}>
                    {'\n\n'}
                    <b>{label}</b>
                    {`\n${words}`}
                  </span>
                ))}
                {text.privacy_notice !== '' &&
                  `\n\n${discord.consent_notice.replace('{url}', () => text.privacy_notice)}`}
              </p>
              {version !== '' && <small>{discord.consent_version.replace('{version}', () => version)}</small>}
            </div>
            {categories.length > 1 && <p class="menu-of">{discord.consent_choose} ▾</p>}
            <p>
              <span class="agree">{text.accept_label || discord.consent_agree}</span>{' '}
              <span class="refuse">{text.decline_label || discord.consent_decline}</span>
            </p>
          </div>,
        ];
      }}
    </Sides>
  );
}
