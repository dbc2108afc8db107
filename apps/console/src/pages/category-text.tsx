import { useState } from 'preact/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { Schemas } from '@lethe/sdk';
import { useLocation, useSearch } from 'wouter-preact';
import { useWords } from '../language';
import { useCategories } from '../queries';
import { lethe } from '../service';
import { useAllowed } from '../session';
import { submits, useSingle } from '../confirm';
import { Loaded } from '../ui';
import { BackLink } from './category';
import { TextPreview } from './category-preview';
import { type Side, SIDES } from './category-words';
import { useDraft } from './draft';
import { Lacks } from './lacks';
import { faultsOf, Field, Refusal, SaveBar } from './settings-form';
import './categories.css';

type Registered = Schemas['ConsentTextView'];
type Category = Schemas['CategoryView'];

const LINES = ['title', 'body', 'accept_label', 'decline_label', 'privacy_notice'] as const;
/** Facts that the form does not show. A new version takes them over. */
const CARRIED = [
  'jurisdiction',
  'storage_locations',
  'recipient_third_parties',
  'withdrawal_method',
] as const;

type Words = Readonly<Record<(typeof LINES)[number], string>> & {
  /** What is said about each category, by its key. */
  readonly about: Readonly<Record<string, string>>;
};

/** The form of a new consent text, empty or made of an earlier version. */
export function NewTextPage() {
  const from = new URLSearchParams(useSearch()).get('from') ?? undefined;
  const mayChange = useAllowed('admin') && useAllowed('write');
  const categories = useCategories();
  const texts = useQuery({
    queryKey: ['texts', 'of', from],
    queryFn: async () =>
      from === undefined ? [] : (await lethe.consents.texts({ consent_version: from }).page(1, 100)).items,
  });
  return (
    <>
      <BackLink />
      <Lacks scopes={['write', 'admin']} />
      {mayChange && (
        <Loaded from={categories}>
          {(known) => (
            <Loaded from={texts}>
              {(before) => (
                <Form known={known.filter(({ requires_consent: r }) => r !== false)} before={before} />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </>
  );
}

const purposeOf = (side: Side, category: Category): string =>
  category[`description_${side}`] ?? category.description ?? '';

function wordsOf(side: Side, before: readonly Registered[], known: readonly Category[]): Words {
  const text = before.find(({ language }) => language === side);
  const about = known.map((category): [string, string] => {
    const said = text?.categories.find(({ key }) => key === category.key)?.text;
    return [category.key, said ?? purposeOf(side, category)];
  });
  return {
    ...{ title: text?.title ?? '', body: text?.body ?? '', privacy_notice: text?.privacy_notice ?? '' },
    ...{ accept_label: text?.accept_label ?? '', decline_label: text?.decline_label ?? '' },
    about: Object.fromEntries(about),
  };
}

const isFilled = ({ title, body }: Words): boolean => title.trim() !== '' || body.trim() !== '';

function Form({
  known,
  before,
}: {
  readonly known: readonly Category[];
  readonly before: readonly Registered[];
}) {
  const words = useWords();
  const { t, language } = words;
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const named = before.flatMap(({ categories }) => categories.map(({ key }) => key));
  const [chosen, setChosen] = useState<readonly string[]>(
    known.map(({ key }) => key).filter((key) => before.length === 0 || named.includes(key)),
  );
  const draft = useDraft({
    consent_version: '',
    de: wordsOf('de', before, known),
    en: wordsOf('en', before, known),
  });
  const { values } = draft;
  const carried = CARRIED.filter((name) => before.some((text) => text[name] != null));
  const categoriesOf = (side: Side) =>
    known
      .filter(({ key }) => chosen.includes(key))
      .map((each) => ({
        key: each.key,
        label: each[`label_${side}`],
        text: values[side].about[each.key] ?? '',
      }));
  const content = (side: Side) => {
    const old = before.find((text) => text.language === side);
    const facts = CARRIED.flatMap((name) => (old?.[name] == null ? [] : [[name, old[name]] as const]));
    const lines = LINES.map((name) => [name, values[side][name]] as const);
    const categories = categoriesOf(side);
    return {
      ...Object.fromEntries(facts),
      // The title and the text are sent when empty too, so that the service says that they are missing.
      ...Object.fromEntries(
        lines.filter(([name, text]) => text !== '' || name === 'title' || name === 'body'),
      ),
      ...(categories.length > 0 && { categories }),
    };
  };
  const [main = 'de', other] = SIDES.filter((side) => isFilled(values[side]));
  const save = useMutation({
    mutationFn: () =>
      lethe.consents.registerText({
        ...(content(main) as Pick<Registered, 'title' | 'body'>),
        ...{ consent_version: values.consent_version.trim(), language: main },
        ...(other !== undefined && { texts: { [other]: content(other) as unknown as Registered } }),
      }),
    onSuccess: () => {
      draft.discard();
      void queries.invalidateQueries({ queryKey: ['texts'] });
      setTimeout(() => navigate('/categories'));
    },
  });
  const begin = useSingle(save.isPending, save.error, () => save.mutate());
  const faults = faultsOf(save.error, words);
  const put = (side: Side, more: Partial<Words>): void => draft.set({ [side]: { ...values[side], ...more } });
  const at = (side: Side): string => (side === main ? '' : `texts.${side}.`);
  const toggle = (key: string): void =>
    setChosen(chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]);
  return (
    <>
      <form class="setting" noValidate onSubmit={submits(begin)}>
        <Field
          label={t('version')}
          hint={t('versionHint')}
          fault={faults.get('consent_version')}
          value={values.consent_version}
          onInput={(version) => draft.set({ consent_version: version })}
        />
        {known.length > 0 && (
          <fieldset>
            <legend>{t('textCategories')}</legend>
            {known.map((category) => (
              <label key={category.key} class="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(category.key)}
                  onChange={() => toggle(category.key)}
                />{' '}
                <bdi>{category[`label_${language}`]}</bdi>
              </label>
            ))}
          </fieldset>
        )}
        <p class="small">{t('textLead')}</p>
        <div class="pair">
          {SIDES.map((side) => (
            <fieldset key={side} class="side-form">
              <legend>{t(side === 'de' ? 'german' : 'english')}</legend>
              {(
                [
                  ['title', 'textTitle', undefined],
                  ['body', 'textBody', 8],
                  ['accept_label', 'textAccept', undefined],
                  ['decline_label', 'textDecline', undefined],
                  ['privacy_notice', 'textNotice', undefined],
                ] as const
              ).map(([name, label, rows]) => (
                <Field
                  key={name}
                  label={t(label)}
                  lang={side}
                  {...(rows !== undefined && { rows })}
                  fault={faults.get(`${at(side)}${name}`)}
                  value={values[side][name]}
                  onInput={(text) => put(side, { [name]: text })}
                />
              ))}
              {categoriesOf(side).map(({ key, label, text }, place) => (
                <Field
                  key={key}
                  label={t('textOf', { label })}
                  lang={side}
                  rows={2}
                  fault={faults.get(`${at(side)}categories[${place}].text`)}
                  value={text}
                  onInput={(said) => put(side, { about: { ...values[side].about, [key]: said } })}
                />
              ))}
            </fieldset>
          ))}
        </div>
        {carried.length > 0 && (
          <p class="small">
            {t('carried', { version: before[0]?.consent_version ?? '', names: carried.join(', ') })}
          </p>
        )}
        <Refusal error={save.error} beside={(field) => field !== 'language'} />
        <SaveBar act={t('registerText')} draft={draft} save={save} />
      </form>
      <TextPreview
        version={values.consent_version}
        texts={{
          de: { ...values.de, categories: categoriesOf('de') },
          en: { ...values.en, categories: categoriesOf('en') },
        }}
      />
    </>
  );
}
