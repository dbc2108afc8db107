import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type RecentPlace, recentSubjects } from '@app/audit';
import { basisOf, undeclared } from '@app/categories';
import {
  ConsentedDataHolders,
  Cursors,
  ERASED_IDS,
  HeldSubjects,
  type Subject,
  SubjectDigests,
  type SubjectIds,
} from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { ListPage } from '@app/http';
import { categoryStates } from './consent-changes';
import { hasLeftData, type ListedStatus, listedStatuses } from './consent-status.sql';
import type { ConsentStatus } from './consent-states';
import { statusView } from './consent.views';
import type { ListedUserView, UsersQuery } from './users.dto';

/** Users that a page looks at where not every one is shown: a filter that few users pass costs no more. */
const LOOKED_MAX = 500;
/** Users of one read. Each needs its key decrypted, and other requests are answered in between. */
const PORTION = 50;

/** By digests, or by a place in the audit log. */
type At = [guild: string, user: string] | [...RecentPlace];
type Placed = Subject & { readonly at: At };

/**
 * The users about whom anything is held, each in one guild, with the status of the consent. Reading the list writes no audit
 * event, as a batch of statuses does not.
 */
@Injectable()
export class UsersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly held: HeldSubjects,
    private readonly holders: ConsentedDataHolders,
    private readonly digests: SubjectDigests,
    private readonly cursors: Cursors,
  ) {}

  /**
   * One page. It looks at a bounded number of users, whatever the filters are, and has fewer users or none where few of them
   * pass. @throws ApiError 404 for an undeclared category
   */
  async list(botId: string, query: UsersQuery): Promise<ListPage> {
    const page = this.cursors.page<At>(botId, 'users', query);
    // The newest events can be those of users who are erased.
    const looksFurther = query.status != null || query.category != null || query.order === 'recent';
    const size = looksFurther ? LOOKED_MAX : page.size;
    const needsNone = await this.needsNoConsent(botId, query.category);
    const places = await this.places(botId, query, page.after, size + 1);
    const looked = places.slice(0, size);
    const users: ListedUserView[] = [];
    let end = 0;
    for (; end < looked.length && users.length < page.size; await nextTurn()) {
      const portion = looked.slice(end, end + PORTION);
      const found = await this.unitOfWork.read((tx) => this.found(tx, portion, query, needsNone));
      for (const user of found) {
        if (users.length === page.size) break;
        if (user !== undefined) users.push(user);
        end++;
      }
    }
    return new ListPage('users', users, page.walked(end < places.length ? places[end - 1]?.at : undefined));
  }

  /** Of the category that is asked for. @throws ApiError 404 for an undeclared one */
  private async needsNoConsent(botId: string, category: string | null | undefined): Promise<boolean> {
    if (category == null) return false;
    const basis = await this.unitOfWork.read((tx) => basisOf(tx, botId, category));
    return !(basis ?? undeclared()).requiresConsent;
  }

  /** Where to look, in the order of the list. */
  private async places(
    botId: string,
    { user_id, guild_id, order }: UsersQuery,
    after: At | undefined,
    limit: number,
  ): Promise<Placed[]> {
    const of = {
      botId,
      ...(guild_id != null && { guildId: this.digests.guild(botId, guild_id) }),
      ...(user_id != null && { userId: this.digests.user(botId, user_id) }),
    };
    if (order !== 'recent') {
      const [guildId, userId] = (after ?? []) as Subject['guildId'][];
      const last = guildId !== undefined && userId !== undefined ? { guildId, userId } : undefined;
      const subjects = await this.unitOfWork.read((tx) => this.held.walk(tx, of, last, limit));
      return subjects.map((subject) => ({ ...subject, at: [subject.guildId, subject.userId] }));
    }
    const recent = await recentSubjects(this.unitOfWork, of, after as RecentPlace | undefined, limit);
    return recent.map(({ at, ...subject }) => ({ ...subject, at: [...at] }));
  }

  /** The users of places, in their order; undefined for one who is erased or does not pass the filters. */
  private async found(
    tx: Tx,
    places: readonly Placed[],
    query: UsersQuery,
    needsNone: boolean,
  ): Promise<(ListedUserView | undefined)[]> {
    const statuses = await listedStatuses(tx, places);
    const passing = places.flatMap((subject, at) => {
      const status = statuses[at];
      return status !== undefined && passes(status, query, needsNone) ? [{ at, subject, status }] : [];
    });
    const ids = await this.held.idsOf(tx, subjectsOf(passing));
    const leaving = passing.filter(({ status }) => hasLeftData(status));
    const times = await this.holders.erasureTimes(tx, subjectsOf(leaving));
    const announced = new Map(leaving.map((one, at) => [one, times[at] ?? []]));
    const users = places.map((): ListedUserView | undefined => undefined);
    for (const [at, one] of passing.entries()) {
      const found = ids[at];
      if (found === undefined) continue;
      const shown: SubjectIds = found ?? { ...ERASED_IDS, ...asked(query) };
      users[one.at] = {
        ...statusView(one.status, shown, announced.get(one)),
        updated_at: one.status.changedAt,
        ...(found === null && { unreadable: true }),
      };
    }
    return users;
  }
}

function subjectsOf(found: readonly { readonly subject: Subject }[]): Subject[] {
  return found.map(({ subject }) => subject);
}

function asked({ user_id, guild_id }: UsersQuery): Partial<SubjectIds> {
  return { ...(user_id != null && { user_id }), ...(guild_id != null && { guild_id }) };
}

function passes({ consent }: ListedStatus, { status, category }: UsersQuery, needsNone: boolean): boolean {
  if (category == null) return status == null || status === (consent?.status ?? 'none');
  const state = stateIn(consent, category, needsNone);
  return state !== undefined && (status == null || status === state);
}

/** The state of a category in a consent, or in the newer request beside it; undefined if neither is about it. */
function stateIn(
  consent: ListedStatus['consent'],
  category: string,
  needsNone: boolean,
): ConsentStatus | undefined {
  if (consent === null || consent.status === 'none') return undefined;
  const named = categoryStates(consent)?.find(({ key }) => key === category)?.status;
  // What names no categories is about all that need a consent.
  if (named !== undefined || needsNone) return named;
  if (consent.categories === null) return consent.status;
  return consent.pendingVersion !== null && consent.pendingCategories === null ? 'pending' : undefined;
}
