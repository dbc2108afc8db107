import { useState } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import { useWords } from '../language';
import type { Schemas } from '@lethe/sdk';
import { lethe } from '../service';
import { Code, Loaded, Table } from '../ui';

/** The purpose for a reader of `language`, as the service chooses it for its own pages. */
function purposeOf(one: Schemas['CategoryView'], language: 'de' | 'en'): string | undefined {
  const { description, description_de: german, description_en: english } = one;
  const words = [language === 'de' ? german : english, english, description, german];
  return words.find((text) => text != null && text !== '') ?? undefined;
}

/** What the bot stores and why, and the texts by which it asks. */
export function CategoriesPage() {
  const { t, language } = useWords();
  const [page, setPage] = useState(1);
  const categories = useQuery({
    queryKey: ['categories', page],
    queryFn: () => lethe.categories.list().page(page),
  });
  return (
    <>
      <Loaded from={categories}>
        {(found) => (
          <Table
            caption={t('categories')}
            of={found}
            onPage={setPage}
            columns={[
              {
                title: t('category'),
                cell: ({ key, label_de, label_en }) => (
                  <>
                    <bdi>{language === 'de' ? label_de : label_en}</bdi> <code>{key}</code>
                  </>
                ),
              },
              { title: t('purpose'), cell: (one) => <bdi>{purposeOf(one, language) ?? '–'}</bdi> },
              { title: t('legalBasis'), cell: ({ legal_basis: basis }) => <Code kind="basis" of={basis} /> },
              {
                title: t('retention'),
                cell: ({ retention_days: days }) => (days === null ? t('unlimited') : `${days} ${t('days')}`),
              },
              {
                title: t('fields'),
                cell: ({ fields }) => (
                  <bdi>
                    {fields
                      .map((field) => (language === 'de' ? field.label_de : field.label_en))
                      .join(', ') || '–'}
                  </bdi>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <ConsentTexts />
    </>
  );
}

function ConsentTexts() {
  const { t } = useWords();
  const [page, setPage] = useState(1);
  const texts = useQuery({
    queryKey: ['texts', page],
    queryFn: () => lethe.consents.texts().page(page, 10),
  });
  return (
    <section>
      <h2>{t('consentTexts')}</h2>
      <Loaded from={texts}>
        {(found) => (
          <Table
            caption={t('consentTexts')}
            of={found}
            onPage={setPage}
            columns={[
              { title: t('version'), cell: ({ consent_version: version }) => version },
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
        )}
      </Loaded>
    </section>
  );
}
