import { useEffect, useState } from 'preact/hooks';
import { Link, useParams, useRoute } from 'wouter-preact';
import { useWords } from '../language';
import { Copy, userPath, When } from '../parts';
import { Loaded } from '../ui';
import { Lacks } from './lacks';
import { type Asked, UserActs } from './user-acts';
import { Consent, History } from './user-consent';
import { type Ids, isId } from './user-ids';
import { Erasures } from './user-erasures';
import { ExportOfAll } from './user-export';
import { Refusals } from './user-refusals';
import { isDirect } from './user-typed';
import { Deliveries, Events } from './user-trail';
import { Values } from './user-values';
import { ConsentState, UserServer } from './users';
import { hrefOf } from './users-address';
import { useServersOfUser, useUser } from './users-query';
import './users.css';

/** The address of a user, below `/console`, as `userPath` makes it. */
export const USER_PATH = '/users/:server/:user';

/** The title of the page of a user, who is named in it. */
export function useUserTitle(): string {
  const { t } = useWords();
  const [, ids] = useRoute(USER_PATH);
  return isId(ids?.user) ? t('userTitle', { id: ids.user }) : t('user');
}

/** One user in one server, at an address to keep and to send to a colleague. */
export function UserPage() {
  const { t } = useWords();
  const { server, user } = useParams();
  // The page to sign in, after a session that has ended, has no title of its own.
  useEffect(
    () => () => {
      document.title = t('appName');
    },
    [],
  );
  if (isId(server) && isId(user))
    return <User key={`${server}/${user}`} ids={{ user_id: user, guild_id: server }} />;
  return (
    <>
      <p class="notice bad" role="alert">
        {t('userBadAddress')}
      </p>
      <p>
        <Link href="/users">{t('userToList')}</Link>
      </p>
    </>
  );
}

function User({ ids }: { readonly ids: Ids }) {
  const { t } = useWords();
  const [acts, setActs] = useState(0);
  const [asked, setAsked] = useState<Asked | undefined>();
  const user = useUser(ids);
  const acted = (): void => setActs((before) => before + 1);
  return (
    <div class="user">
      <p class="whose">
        <span>
          {!isDirect(ids.guild_id) && t('server')} <strong>{<UserServer id={ids.guild_id} />}</strong>{' '}
          <Copy of={ids.guild_id} />
        </span>{' '}
        <span>
          {t('userId')} <code>{ids.user_id}</code> <Copy of={ids.user_id} />
        </span>
      </p>
      <Loaded from={user}>
        {(found) => (
          <>
            {found !== null && <Lacks scopes={['write', 'erase']} />}
            {/* Its place does not depend on what is held: it says what became of an erasure. */}
            <UserActs ids={ids} user={found} asked={asked} onAsk={setAsked} onActed={acted} />
            {found === null && (
              <div class="empty">
                <p>
                  <strong>{t('userNothing')}</strong>
                </p>
                <p>{t('userNothingNote')}</p>
              </div>
            )}
            {found === null && <OtherServers ids={ids} />}
            <div class={found === null ? undefined : 'columns'}>
              <div>
                {found !== null && (
                  <>
                    <Consent of={found} onRevoke={() => setAsked('revoke')} onActed={acted} />
                  </>
                )}
                <Refusals ids={ids} onActed={acted} />
                {found !== null && (
                  <>
                    {/* After an act nothing that was shown before it stays. */}
                    <Values key={acts} ids={ids} />
                    <History ids={ids} />
                  </>
                )}
                <Events ids={ids} isHeld={found !== null} />
                <Deliveries ids={ids} isHeld={found !== null} />
              </div>
              {found !== null && <OtherServers ids={ids} />}
            </div>
            {found !== null && <Erasures ids={ids} onAsk={setAsked} />}
          </>
        )}
      </Loaded>
    </div>
  );
}

/** Where else something is held about the same user. */
function OtherServers({ ids }: { readonly ids: Ids }) {
  const { t } = useWords();
  const { data } = useServersOfUser(ids.user_id);
  const others = data?.items.filter(({ guild_id: id }) => id !== ids.guild_id) ?? [];
  if (data === undefined || others.length === 0) return null;
  return (
    <aside>
      <h2>{t('userElsewhere')}</h2>
      <ul class="plain others">
        {others.map((other) => (
          <li key={other.guild_id}>
            <Link href={userPath(ids.user_id, other.guild_id)}>
              <UserServer id={other.guild_id} />
            </Link>{' '}
            <ConsentState of={other} />
            <div class="small">
              <When at={other.updated_at} />
            </div>
          </li>
        ))}
      </ul>
      <ExportOfAll of={ids.user_id} />
      {data.next !== null && (
        <p>
          <Link href={hrefOf({ user: ids.user_id })}>{t('userAllServers')}</Link>
        </p>
      )}
    </aside>
  );
}
