import { useMutation } from '@tanstack/preact-query';
import { useWords } from '../language';
import { CategoryName } from '../parts';
import { useCategories } from '../queries';
import { lethe } from '../service';
import { Fault } from '../ui';
import { Value } from '../value';
import type { Ids } from './user-ids';

/** The stored values, hidden until they are asked for: showing them is an export, with its event in the audit log. */
export function Values({ ids }: { readonly ids: Ids }) {
  const { t } = useWords();
  const reveal = useMutation({ mutationFn: () => lethe.data.export(ids) });
  const shown = reveal.data === undefined ? undefined : Object.entries(reveal.data.data);
  return (
    <section>
      <h2>{t('storedValues')}</h2>
      <Fault error={reveal.error} />
      {shown === undefined ? (
        <>
          <p>{t('masked')}</p>
          <button type="button" disabled={reveal.isPending} onClick={() => reveal.mutate()}>
            {t('reveal')}
          </button>
        </>
      ) : (
        <>
          {shown.length === 0 && <p class="small">{t('userNoValues')}</p>}
          {shown.map(([key, fields]) => (
            <div key={key} class="facts values">
              <h3>
                <CategoryName of={key} />
              </h3>
              <Fields category={key} of={fields} />
            </div>
          ))}
        </>
      )}
    </section>
  );
}

/** The values of one category under the labels of its fields. */
function Fields({ category, of }: { readonly category: string; readonly of: object }) {
  const { language } = useWords();
  const fields = useCategories().data?.find(({ key }) => key === category)?.fields;
  return (
    <dl class="nested">
      {Object.entries(of).map(([key, value]: [string, unknown]) => {
        const field = fields?.find((each) => each.key === key);
        return (
          <div key={key}>
            <dt title={key}>{field?.[`label_${language}`] ?? key}</dt>
            <dd>
              <Value of={value} type={field?.type} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
