import { useMutation } from '@tanstack/preact-query';
import { download } from '../download';
import { useWords } from '../language';
import { lethe } from '../service';
import { Fault } from '../ui';
import type { Ids } from './user-ids';

/** Downloads the export of a user, of one server or of all. */
export function useExport(of: Ids | { readonly user_id: string }) {
  return useMutation({
    mutationFn: async () => textOf(await lethe.data.exportStream({ ...of, format: 'full' })),
    onSuccess: (text) => download(`export-${of.user_id}.json`, text),
  });
}

/** The text of a stream, by its reader: `Response` would make every fault of the connection a TypeError of the page. */
async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
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
