import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { Schemas } from '@lethe/sdk';
import { Link, useLocation, useParams } from 'wouter-preact';
import { useWords } from '../language';
import { Copy } from '../parts';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { submits, useSingle } from '../confirm';
import { Loaded } from '../ui';
import { WORDS } from '../words';
import { consentDraftOf, ConsentFields, consentGiven } from './category-consent';
import { FieldsEditor, type EditedField, NEW_FIELD } from './category-fields';
import { CategoryFacts } from './category-facts';
import { CategoryPreview, type PreviewedCategory } from './category-preview';
import { useCategory } from './category-query';
import { Removal } from './category-removal';
import { useDraft } from './draft';
import { Lacks } from './lacks';
import { faultsOf, Field, Refusal, SaveBar } from './settings-form';
import './categories.css';

type Category = Schemas['CategoryView'];

type TextField = 'key' | 'label_de' | 'label_en' | 'description_de' | 'description_en' | 'retention_days';

/** One category: what users see of it, and its form. */
export function CategoryPage() {
  const { key = '' } = useParams<{ readonly key: string }>();
  const mayChange = useAllowed('admin') && useAllowed('write');
  const category = useCategory(key);
  return (
    <>
      <BackLink />
      <Lacks scopes={['write', 'erase', 'admin']} />
      <Loaded from={category}>
        {(found) => (
          <>
            {mayChange ? (
              <Form key={found.key} category={found} />
            ) : (
              <>
                <CategoryFacts of={found} />
                <CategoryPreview of={previewed(found)} />
              </>
            )}
            <Removal of={found.key} />
          </>
        )}
      </Loaded>
    </>
  );
}

export function NewCategoryPage() {
  const mayChange = useAllowed('admin') && useAllowed('write');
  return (
    <>
      <BackLink />
      <Lacks scopes={['write', 'admin']} />
      {mayChange && <Form />}
    </>
  );
}

export function BackLink() {
  const { t } = useWords();
  return (
    <p>
      <Link href="/categories">← {t('back')}</Link>
    </p>
  );
}

function draftOf(category: Category | undefined) {
  return {
    key: category?.key ?? '',
    label_de: category?.label_de ?? '',
    label_en: category?.label_en ?? '',
    description_de: category?.description_de ?? '',
    description_en: category?.description_en ?? '',
    legal_basis: category?.legal_basis ?? ('consent' as const),
    ...consentDraftOf(category),
    retention_days: category?.retention_days == null ? '' : String(category.retention_days),
    fields: (category?.fields.map(({ key, type, label_de, label_en, editable }) => ({
      key,
      type,
      label_de,
      label_en,
      editable: editable === true,
    })) ?? [NEW_FIELD]) as readonly EditedField[],
  };
}

type Draft = ReturnType<typeof draftOf>;

function previewed(of: Draft | Category): PreviewedCategory {
  const days = Number(of.retention_days);
  const { description_de: de, description_en: en } = of;
  return {
    ...{ ...of, description_de: de ?? '', description_en: en ?? '' },
    retention_days: days > 0 ? days : null,
  };
}

/** What the interface takes of a draft: an empty purpose or time limit is none. */
function given(draft: Partial<Draft>, { requires_consent: isRequired }: Draft) {
  const { fields, retention_days: days, description_de: de, description_en: en, ...others } = draft;
  return {
    ...consentGiven(others, isRequired),
    ...(de !== undefined && { description_de: de.trim() === '' ? null : de }),
    ...(en !== undefined && { description_en: en.trim() === '' ? null : en }),
    ...(days !== undefined && { retention_days: days.trim() === '' ? null : Number(days) }),
    ...(fields !== undefined && { fields: [...fields] }),
  };
}

function Form({ category }: { readonly category?: Category }) {
  const words = useWords();
  const { t, named } = words;
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const draft = useDraft(draftOf(category));
  const { values, changed } = draft;
  const save = useMutation({
    mutationFn: (sent: Draft): Promise<Category> =>
      category === undefined
        ? (lethe.categories.register({
            ...given(sent, sent),
          } as Schemas['RegisterCategory']) as Promise<Category>)
        : lethe.categories.change({
            ...(given(changed, sent) as Schemas['ChangeCategory']),
            key: category.key,
          }),
    onSuccess: (saved, sent) => {
      queries.setQueryData(['category', saved.key], saved);
      for (const name of ['categories', 'category-names'])
        void queries.invalidateQueries({ queryKey: [name] });
      if (category !== undefined) return draft.settle(sent);
      draft.discard();
      setTimeout(() => navigate(`/categories/${saved.key}`));
    },
  });
  const begin = useSingle(save.isPending, save.error, () => save.mutate(values));
  const faults = faultsOf(save.error, words);
  const text = (name: TextField) => ({
    value: values[name],
    fault: faults.get(name),
    onInput: (value: string) => draft.set({ [name]: value }),
  });
  return (
    <>
      <form class="setting" noValidate onSubmit={submits(begin)}>
        {category === undefined ? (
          <Field label={t('categoryKey')} hint={t('categoryKeyHint')} {...text('key')} />
        ) : (
          <p>
            <code>{category.key}</code> <Copy of={category.key} />
          </p>
        )}
        <div class="pair">
          <Field label={t('labelDe')} lang="de" {...text('label_de')} />
          <Field label={t('labelEn')} lang="en" {...text('label_en')} />
          <Field
            label={t('purposeDe')}
            hint={t('purposeHint')}
            lang="de"
            rows={3}
            {...text('description_de')}
          />
          <Field label={t('purposeEn')} lang="en" rows={3} {...text('description_en')} />
          <div class="field">
            <label>
              {t('basisField')}
              <select
                value={values.legal_basis}
                onChange={(event) => {
                  const basis = event.currentTarget.value as Category['legal_basis'];
                  draft.set({ legal_basis: basis, ...(basis === 'consent' && { requires_consent: true }) });
                }}
              >
                {Object.keys(WORDS.en.basis).map((basis) => (
                  <option key={basis} value={basis}>
                    {named('basis', basis)}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <Field
            label={t('retentionField')}
            hint={t('retentionHint')}
            inputMode="numeric"
            {...text('retention_days')}
          />
        </div>
        {values.legal_basis !== 'consent' && (
          <ConsentFields of={values} faults={faults} onChange={draft.set} />
        )}
        <FieldsEditor
          fields={values.fields}
          declared={category?.fields.map(({ key }) => key)}
          faults={faults}
          onChange={(fields) => draft.set({ fields })}
        />
        <Refusal error={save.error} beside={() => true} />
        <Warnings of={save.data} />
        <SaveBar act={category === undefined ? t('create') : t('save')} draft={draft} save={save} />
      </form>
      <CategoryPreview of={previewed(values)} />
    </>
  );
}

/** What the service remarks about a declaration that it took, where it does. */
function Warnings({ of }: { readonly of: (Category & { readonly warnings?: unknown }) | undefined }) {
  const { t } = useWords();
  const found: readonly unknown[] = Array.isArray(of?.warnings) ? of.warnings : [];
  if (found.length === 0) return null;
  return (
    <div class="notice warn" role="status">
      <p>{t('warnings')}</p>
      <ul>
        {found.map((each, at) => (
          <li key={at}>
            {typeof each === 'string' ? each : String((each as { message?: unknown }).message)}
          </li>
        ))}
      </ul>
    </div>
  );
}
