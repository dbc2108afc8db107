import { useQuery } from '@tanstack/preact-query';
import { useRoute } from 'wouter-preact';
import { useWords } from '../language';
import { lethe } from '../service';

/** The address of a category, below `/console`. */
export const CATEGORY_PATH = '/categories/:key';

export const useCategory = (key: string | undefined) =>
  useQuery({
    queryKey: ['category', key],
    queryFn: () => lethe.categories.get(key ?? ''),
    enabled: key !== undefined,
  });

/** The title of the page of a category: its label, once it is known. */
export function useCategoryTitle(): string {
  const { t, language } = useWords();
  const [, of] = useRoute(CATEGORY_PATH);
  return useCategory(of?.key).data?.[`label_${language}`] ?? t('editCategory');
}
