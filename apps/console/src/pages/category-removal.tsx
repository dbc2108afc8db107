import { useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import { useWords } from '../language';
import { ERASURE_MAX_MS, lethe } from '../service';
import { useHas } from '../session';
import { Confirm } from '../confirm';

/** Removes a category with its values, after its key was typed. */
export function Removal({ of }: { readonly of: string }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const mayErase = useHas('admin') && useHas('erase');
  const [isAsked, setAsked] = useState(false);
  const remove = useMutation({
    mutationFn: () => lethe.categories.delete(of, { timeoutMs: ERASURE_MAX_MS }),
    onSuccess: () => {
      for (const name of ['categories', 'category-names'])
        void queries.invalidateQueries({ queryKey: [name] });
      navigate('/categories');
    },
  });
  if (!mayErase) return null;
  return (
    <p class="actions">
      <button class="danger" type="button" onClick={() => setAsked(true)}>
        {t('removeCategory')}
      </button>
      {isAsked && (
        <Confirm
          title={t('removeCategoryTitle', { key: of })}
          note={t('removeCategoryNote')}
          typed={of}
          act={t('removeCategoryAct')}
          progress={t('removingCategory')}
          isRunning={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onCancel={() => {
            if (remove.isError) remove.reset();
            setAsked(false);
          }}
        />
      )}
    </p>
  );
}
