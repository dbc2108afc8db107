import { useMutation } from '@tanstack/preact-query';
import { download } from '../download';
import { useWords } from '../language';
import { lethe } from '../service';
import { Fault } from '../ui';
import type { Ids } from './user-ids';

/** Downloads the export of a user, of one server or of all. */
export function useExport(of: Ids | { readonly user_id: string }) {
  return useMutation({
    mutationFn: async () => new Response(await lethe.data.exportStream({ ...of, format: 'full' })).text(),
    onSuccess: (text) => download(`export-${of.user_id}.json`, text),
  });
}

/** Downloads what is held about a user in all servers. */
export function ExportOfAll({ of: user_id }: { readonly of: string }) {
  const { t } = useWords();
  const file = useExport({ user_id });
  return (
    <>
      <button type="button" disabled={file.isPending} onClick={() => file.mutate()}>
        {t('userExportAll')}
      </button>
      <Fault error={file.error} />
    </>
  );
}
