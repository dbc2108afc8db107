import { Link } from 'wouter-preact';
import { useWords } from '../language';
import type { Schemas } from '@lethe/sdk';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { PagedTable } from '../ui';
import { Basis, Kept } from './category-facts';
import { Lacks } from './lacks';
import './categories.css';

/** The purpose for a reader of `language`, as the service chooses it for its own pages. */
function purposeOf(one: Schemas['CategoryView'], language: 'de' | 'en'): string | undefined {
  const { description, description_de: german, description_en: english } = one;
  const words = [language === 'de' ? german : english, english, description, german];
  return words.find((text) => text != null && text !== '') ?? undefined;
}

/** What the bot stores and why, and the texts by which it asks. */
export function CategoriesPage() {
  const { t, language } = useWords();
  const mayChange = useAllowed('admin') && useAllowed('write');
  return (
    <>
      <Lacks scopes={['write', 'admin']} />
      <p class="small">{t('categoriesLead')}</p>
      {mayChange && (
        <p class="actions">
          <Link href="/new-category" class="button">
            {t('newCategory')}
          </Link>
        </p>
      )}
      <PagedTable
        queryKey={['categories']}
        load={(page) => lethe.categories.list().page(page)}
        caption={t('categories')}
        none={t('noCategories')}
        columns={[
          {
            title: t('category'),
            cell: ({ key, [`label_${language}` as const]: label }) => (
              <>
                <Link href={`/categories/${key}`}>
                  <bdi>{label}</bdi>
                </Link>{' '}
                <code>{key}</code>
              </>
            ),
          },
          {
            title: t('purpose'),
            cell: (one) => <bdi class="clamped">{purposeOf(one, language) ?? '–'}</bdi>,
          },
          { title: t('legalBasis'), cell: (category) => <Basis of={category} /> },
          {
            title: t('retention'),
            cell: (category) => <Kept of={category} />,
          },
          {
            title: t('fields'),
            cell: ({ fields }) => (
              <bdi>{fields.map((field) => field[`label_${language}`]).join(', ') || '–'}</bdi>
            ),
          },
        ]}
      />
      <ConsentTexts />
    </>
  );
}

function ConsentTexts() {
  const { t } = useWords();
  const mayChange = useAllowed('admin') && useAllowed('write');
  return (
    <section>
      <h2>{t('consentTexts')}</h2>
      <p class="small">{t('textsLead')}</p>
      {mayChange && (
        <p class="actions">
          <Link href="/new-text" class="button">
            {t('newText')}
          </Link>
        </p>
      )}
      <PagedTable
        queryKey={['texts']}
        load={(page) => lethe.consents.texts().page(page, 10)}
        caption={t('consentTexts')}
        none={t('noTexts')}
        columns={[
          {
            title: t('version'),
            cell: ({ consent_version: version }) => (
              <>
                <bdi>{version}</bdi>
                {mayChange && (
                  <span class="since">
                    <Link href={`/new-text?from=${encodeURIComponent(version)}`}>{t('fromThis')}</Link>
                  </span>
                )}
              </>
            ),
          },
          { title: t('languageOfText'), cell: ({ language }) => language },
          {
            title: t('preview'),
            cell: (text) => (
              <article class="preview" lang={text.language} dir="auto">
                <h3>{text.title}</h3>
                <p>{text.body}</p>
                {text.categories?.map(({ key, label, text: words }) => (
                  <p key={key}>
                    <strong>{label}</strong>: {words}
                  </p>
                ))}
                <p>
                  <span class="fake-button">{text.accept_label ?? t('acceptLabel')}</span>{' '}
                  <span class="fake-button">{text.decline_label ?? t('declineLabel')}</span>
                </p>
              </article>
            ),
          },
        ]}
      />
    </section>
  );
}
