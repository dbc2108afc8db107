import { useWords } from '../language';
import { useHas } from '../session';
import type { Asked } from './user-acts';
import type { Ids } from './user-ids';
import { isDirect } from './user-typed';
import { useServersOfUser } from './users-query';

const HERE = { asked: 'erase', what: 'eraseWhat', act: 'erase' } as const;
const DIRECT = { asked: 'erase', what: 'eraseDirectWhat', act: 'eraseDirect' } as const;
const EVERYWHERE = { asked: 'everywhere', what: 'eraseAllWhat', act: 'userEraseAll' } as const;

/** The erasures of a user, at the end of the page and apart from every other act. */
export function Erasures({ ids, onAsk }: { readonly ids: Ids; readonly onAsk: (asked: Asked) => void }) {
  const { t } = useWords();
  const held = useServersOfUser(ids.user_id).data?.items.length ?? 0;
  const here = isDirect(ids.guild_id) ? DIRECT : HERE;
  if (!useHas('erase')) return null;
  return (
    <section class="erasures">
      <h2>{t('userErasures')}</h2>
      <ul class="plain">
        {(held > 1 ? [here, EVERYWHERE] : [here]).map(({ asked, what, act }) => (
          <li key={asked}>
            <span>{t(what)}</span>
            <button class="danger" type="button" onClick={() => onAsk(asked)}>
              {t(act)}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
