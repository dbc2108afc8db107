import { Injectable } from '@nestjs/common';
import {
  CATEGORIES_MAX,
  ConsentAcceptAct,
  ConsentDeclineAct,
  ConsentRequestAct,
  ConsentRevokeAct,
  type ShownRequest,
} from '@app/consent';
import {
  ErasureEverywhere,
  ErasureRequests,
  ErasureService,
  type ExportForm,
  ExportService,
} from '@app/gdpr';
import { type AnswerStream, type FormFields, JsonText } from '@app/http';
import { Acts, NO_CLAIM } from '@app/acts';
import type { Tx } from '@app/database';
import { ERASED_ID, type NamedSubject, type SubjectIds } from '@app/crypto';
import { ApiError, Clock, DAY_MS, invalidRequest, unlessMissing } from '@app/kernel';
import { ServersService } from '@app/servers';
import { UserValues } from '@app/user-data';
import { erasedEverywhere } from './page-erased';
import { VIA } from './page-events';
import { refuse } from './page-forms';
import { erasedIn, type Forgotten, namesFor, ownStores, type ShownErasure } from './page-last';
import { guildNamed } from './page-parts';
import { type PageFacts, PageReading, PURPOSES_MAX } from './page-reading';
import { hasEnded, refusalOf, shownBy } from './page-sections';
import { LinkEnded, type OpenLink, PrivacyLinks } from './privacy-links.service';
import type { PageNote } from './texts';

/** How long the answer of an erasure is kept for a second click, and for how many links at most. */
const REPEATED_MS = 60_000;
const REPEATED_MAX = 1_000;
/** How often in {@link DAY_MS} a user can reconsider: each time leaves entries in the history and the audit log. */
const AGAIN_MAX = 3;

/** The acts of a page. Each is the act of the interface, with its audit event. */
@Injectable()
export class PageActs {
  /** Erasures of the last minute by link, so that a second click shows the same certificate. */
  private readonly erasures = new Map<string, Promise<Forgotten>>();

  constructor(
    private readonly reading: PageReading,
    private readonly links: PrivacyLinks,
    private readonly acts: Acts,
    private readonly accepting: ConsentAcceptAct,
    private readonly declining: ConsentDeclineAct,
    private readonly requesting: ConsentRequestAct,
    private readonly revoking: ConsentRevokeAct,
    private readonly exports: ExportService,
    private readonly erasing: ErasureService,
    private readonly values: UserValues,
    private readonly everywhere: ErasureEverywhere,
    private readonly requests: ErasureRequests,
    private readonly servers: ServersService,
    private readonly clock: Clock,
  ) {}

  /** Accepts what is chosen of the request that was shown. A form without a choice, or for another request, accepts nothing. */
  async accept({ botId }: OpenLink, facts: PageFacts, fields: FormFields): Promise<PageNote> {
    const request = requestOf(facts, fields);
    if (typeof request === 'string') return request;
    const { ids, asked } = request;
    const categories = chosen(fields);
    if (categories === undefined && asked.categories !== null) return 'choose';
    const named = { ...ids, consent_id: asked.id, consent_version: asked.version };
    const input = { ...named, source: VIA, ...(categories && { categories }) };
    return unlessDone('accepted', this.acts.run(this.accepting, { botId, input, by: VIA }, NO_CLAIM));
  }

  /** Declines the request that was shown. */
  async decline({ botId }: OpenLink, facts: PageFacts, fields: FormFields): Promise<PageNote> {
    const request = requestOf(facts, fields);
    if (typeof request === 'string') return request;
    const input = { ...request.ids, consent_id: request.asked.id, source: VIA };
    return unlessDone('declined', this.acts.run(this.declining, { botId, input }, NO_CLAIM));
  }

  /**
   * Asks a user again what was declined, in the words of today. It decides nothing: the page shows the request.
   * @throws ApiError 403 for a guild that the link is not about
   */
  async again(link: OpenLink, facts: PageFacts, { guild, shown }: FormFields): Promise<PageNote | 'often'> {
    const held = facts.subjects.find(({ subject }) => guildNamed(subject) === guild?.[0]) ?? refuse();
    // A second click.
    if (held.asked !== undefined) return 'asked';
    const refusal = refusalOf(held);
    if (refusal === undefined || refusal.id !== shown?.[0]) return 'answered';
    const since = new Date(this.clock.wallMs() - DAY_MS).toISOString();
    const reconsidered = held.history.filter(
      ({ action, source, created_at: at }) => action === 'requested' && source === VIA && at > since,
    );
    if (reconsidered.length >= AGAIN_MAX) return 'often';
    const { version, categories, language } = refusal;
    // A version that is a digest of declarations changes with them.
    const isDigest = categories !== null && version.startsWith('sha256:');
    const input = {
      ...held.subject.ids,
      ...(!isDigest && { consent_version: version }),
      ...(categories !== null && { categories: [...categories] }),
      language,
      source: VIA,
    };
    const request = this.requesting.of({ botId: link.botId, actor: VIA }, input);
    // An erasure stays complete although a form of its user waits for it.
    const onceHeld = (tx: Tx): Promise<void> => this.links.requireThere(tx, link, held.subject);
    const asking = { ...request, subject: held.subject, onceHeld };
    return this.acts.run(this.requesting, asking, NO_CLAIM).then(
      ({ view }) => (view.status === 'pending' ? 'asked' : 'answered'),
      (error: unknown) => unlessEnded(error),
    );
  }

  /** @throws ApiError 403 for a guild that the link is not about */
  async revoke(link: OpenLink, fields: FormFields): Promise<PageNote> {
    const subject = (await this.reading.subjectNamed(link, fields['guild']?.[0])) ?? refuse();
    const categories = chosen(fields);
    const input = { ...subject.ids, source: VIA, ...(categories && { categories }) };
    const done = await this.acts
      .run(this.revoking, { subject, input, by: VIA }, NO_CLAIM)
      .catch(unlessMissing);
    return done === undefined ? 'withdrawn' : 'revoked';
  }

  /** The export as JSON, recorded like every export; undefined when nothing is stored. */
  async export(link: OpenLink): Promise<JsonText | AnswerStream | undefined> {
    const { botId, userId, subject } = link;
    const exported =
      subject === undefined
        ? this.exports.exportAllGuilds({ botId, actor: VIA }, userId, true)
        : this.exports.export(subject, true, VIA);
    return exported.catch(unlessMissing);
  }

  /** The export in a form for people, recorded like every export; undefined when nothing is stored. */
  exportAs(
    form: ExportForm,
    link: OpenLink,
  ): Promise<((write: (piece: string) => Promise<void>) => Promise<void>) | undefined> {
    return this.exports.exportAs(form, link, VIA).catch(unlessMissing);
  }

  /** Erases one category. @throws ApiError 403 for a guild that the link is not about */
  async eraseCategory(link: OpenLink, { shown }: FormFields): Promise<PageNote> {
    const { subject, purpose } = (await this.reading.categoryOf(link, shown?.[0] ?? '')) ?? refuse();
    const erased = await this.values.erase(subject, purpose.key, VIA).catch(unlessMissing);
    return erased === true ? 'erased' : 'erasedBefore';
  }

  /** The answer of an erasure by this link in the last minute. */
  repeated(token: string): Promise<Forgotten> | undefined {
    return this.erasures.get(token);
  }

  /** Erases everything about the subject of a link, and ends the link. One that has left servers out can be sent again. */
  forget(link: OpenLink): Promise<Forgotten> {
    const { token } = link;
    const repeated = this.repeated(token);
    if (repeated !== undefined) return repeated;
    const [oldest] = this.erasures.keys();
    if (oldest !== undefined && this.erasures.size >= REPEATED_MAX) this.erasures.delete(oldest);
    const done = this.erase(link);
    this.erasures.set(token, done);
    const remove = () => void (this.erasures.get(token) === done && this.erasures.delete(token));
    // The answer has ids and salts: it is removed although no other user comes.
    const removeLater = () => void setTimeout(remove, REPEATED_MS).unref();
    done.then(({ isWhole }) => (isWhole ? removeLater() : remove()), remove);
    return done;
  }

  private async erase(link: OpenLink): Promise<Forgotten> {
    const { botId, userId, subject } = link;
    const about = await this.reading.about(link, []);
    const { requests, isWhole } = await (subject === undefined
      ? erasedEverywhere(this.everywhere, { botId, actor: VIA }, userId)
      : this.eraseOne(subject));
    // The erasure of all guilds ends no link if nothing was held. What is erased is shown in any case: its salt is answered once.
    const ended = isWhole ? this.links.remove(botId, link.id) : Promise.resolve();
    await ended.catch(requests.length === 0 ? unlessMissing : () => undefined);
    const own_stores = ownStores(about);
    const erasures: ShownErasure[] = [];
    for (const { request_id, certificate_salt, guild_id } of requests) {
      const issued = await this.requests.certificate(botId, request_id).catch(() => undefined);
      const certificate = issued?.certificate;
      const names = await this.names(link, about, erasedIn(certificate));
      erasures.push({ request_id, certificate_salt, guild_id, certificate, names, own_stores });
    }
    const guilds = requests.map(({ guild_id }) => guild_id);
    const servers = await this.servers.names(botId, guilds).catch(() => new Map<string, string>());
    return { of: { botId, userId }, erasures, isWhole, kept: about.kept, servers };
  }

  /** Also of categories that `about` leaves out. What is erased is shown in any case, without a name if it cannot be read. */
  private async names(
    link: OpenLink,
    about: Awaited<ReturnType<PageReading['about']>>,
    erased: readonly string[],
  ): Promise<ShownErasure['names']> {
    const left = erased.filter((key) => about.purposes.every((purpose) => purpose.key !== key));
    if (left.length === 0) return namesFor(about, erased);
    const whole = await this.reading.about(link, left.slice(0, PURPOSES_MAX)).catch(() => about);
    return namesFor(whole, erased);
  }

  private async eraseOne(subject: NamedSubject): ReturnType<typeof erasedEverywhere> {
    const erased = await this.erasing.erase(subject, NO_CLAIM, VIA);
    return { requests: [{ ...erased, guild_id: subject.ids.guild_id }], isWhole: true };
  }
}

/**
 * The request that a form is about, or what the page says when it is not the request that waits.
 * @throws ApiError 403 for a guild that the link is not about
 */
function requestOf(
  facts: PageFacts,
  { guild, shown }: FormFields,
): { readonly ids: Partial<SubjectIds>; readonly asked: ShownRequest } | PageNote {
  const found = facts.subjects.find(({ subject }) => guildNamed(subject) === guild?.[0]);
  const held = found ?? refuse();
  const { subject, asked } = held;
  // A second click: the first one has answered the request.
  if (asked === undefined) return hasEnded(held, shown?.[0]?.split('.')[0]) ? 'ended' : 'answered';
  if (shown?.[0] !== shownBy(facts, asked)) return 'changed';
  // Where the id of the guild is lost, the request names the subject.
  return { ids: subject.ids.guild_id === ERASED_ID ? {} : subject.ids, asked };
}

/** The categories that a form names, as many as a call may name. @throws ApiError 400 */
function chosen({ category }: FormFields): string[] | undefined {
  if (category === undefined || category.length <= CATEGORIES_MAX) return category && [...category];
  throw invalidRequest([{ field: 'category', message: `must be at most ${CATEGORIES_MAX} categories` }]);
}

/** What the page says after an act. A second click finds that the first one has done it. */
async function unlessDone(note: PageNote, act: Promise<unknown>): Promise<PageNote> {
  const done = await act.catch(unlessMissing);
  return done === undefined ? 'answered' : note;
}

/** What was declined cannot be asked any more: a category or the text in its language is no longer there. */
function unlessEnded(error: unknown): PageNote {
  if (error instanceof LinkEnded) throw error;
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return 'ended';
  throw error;
}
