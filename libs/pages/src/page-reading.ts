import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { type BotFacts, findBot, type NoticeSettings, noticeSettingsOf, suspensionOf } from '@app/bots';
import { type DeclaredPurpose, purposesShown } from '@app/categories';
import {
  ConsentReceipts,
  ConsentService,
  type ShownRequest,
  type ShownWords,
  wordsFound,
  type WordsInLanguage,
} from '@app/consent';
import { erasureDays, HeldSubjects, type NamedSubject, SubjectDataHolders } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import { type BotHolder, ErasureRequests, holdersOf } from '@app/gdpr';
import { JsonText, type ListPage } from '@app/http';
import { ApiError, type Config, CONFIG } from '@app/kernel';
import { ServersService } from '@app/servers';
import { ProcessingRefusals, type RefusalsView, storedKeys } from '@app/user-data';
import { decisionsOf, type PastEvent } from './page-events';
import { refuse } from './page-forms';
import { guildNamed } from './page-parts';
import { type ReadValues, readValues } from './page-values';
import type { OpenLink } from './privacy-links.service';

/** What a page shows at most of each list; one event more is read, to say that there are more. The full export has everything. */
export const ENTRIES_MAX = 8;
const GUILDS_MAX = 10;
/** Further ones that it names, each with a page of its own. */
const FURTHER_MAX = 100;
export const PURPOSES_MAX = 100;
interface HistoryEntry extends Readonly<Record<'id' | 'consent_id' | 'action' | 'version', string>> {
  readonly categories: readonly string[] | null;
  readonly language: string | null;
  readonly source: string | null;
  readonly texts: readonly { readonly language: string; readonly digest: string }[];
  readonly created_at: string;
  /** What the user was shown for it. */
  readonly words: WordsInLanguage | undefined;
}

/** What is held about one subject. */
export interface HeldSubject extends ReadValues {
  readonly subject: NamedSubject;
  readonly status: Awaited<ReturnType<ConsentService['status']>>;
  /** The request that waits, with the words that its acceptance is about. */
  readonly asked: ShownRequest | undefined;
  /** The words of the decision that holds. */
  readonly decided: WordsInLanguage | undefined;
  /** What the user has objected to or restricted. */
  readonly refusals: RefusalsView;
  readonly history: readonly HistoryEntry[];
  readonly events: readonly PastEvent[];
  /** What the bot's own stores have answered to the newest erasure. */
  readonly coverage: Awaited<ReturnType<ErasureRequests['coverage']>>;
}

/** What a page is made of. */
export interface PageFacts {
  readonly bot: BotFacts;
  /** What the bot has said about itself. */
  readonly notice: NoticeSettings;
  readonly isSuspended: boolean;
  readonly purposes: readonly DeclaredPurpose[];
  /** Days after which a withdrawal erases the data that rested on the consent; undefined for never. */
  readonly withdrawnDays: number | undefined;
  /** Days for which the record of an erasure and backups are kept. */
  readonly kept: Readonly<Record<'evidence' | 'backups', number>>;
  /** The bot's own stores. */
  readonly holders: readonly Pick<BotHolder, 'labelDe' | 'labelEn'>[];
  readonly subjects: readonly HeldSubject[];
  /** The registered names of their servers by the id. */
  readonly servers: ReadonlyMap<string, string>;
  /** Those that have no room among {@link subjects}, as many as are listed. */
  readonly further: readonly NamedSubject[];
  readonly hasMore: boolean;
  /** Whether anything is held, so that a copy has something and asks the bot's own stores. */
  readonly isHeld: boolean;
}

/** What a copy to read says of a guild besides its export. */
export type GuildFacts = Decisions & Pick<PageFacts, 'servers'>;
/** {@link GuildFacts} with the declarations, and the keys of the categories that have values. */
export type CopiedFacts = GuildFacts & Pick<PageFacts, 'purposes'> & { readonly stored: readonly string[] };
type Decisions = Pick<HeldSubject, 'status' | 'asked' | 'decided' | 'refusals'>;

/** One category of one subject of a link. */
export interface OneCategory extends GuildFacts {
  readonly subject: NamedSubject;
  readonly purpose: DeclaredPurpose;
}

/** Reads what a page shows. Nothing is written. */
@Injectable()
export class PageReading {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly held: HeldSubjects,
    private readonly consents: ConsentService,
    private readonly receipts: ConsentReceipts,
    private readonly audit: AuditService,
    private readonly refusals: ProcessingRefusals,
    private readonly requests: ErasureRequests,
    private readonly servers: ServersService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The bot of a link and its purposes: those of `held`, the categories with values, with their fields. */
  async about(
    { botId }: OpenLink,
    held: readonly string[],
  ): Promise<Omit<PageFacts, 'subjects' | 'servers' | 'further' | 'hasMore' | 'isHeld'>> {
    const [bot, standing, notice, purposes, holders] = await this.unitOfWork.read(async (tx) =>
      Promise.all([
        findBot(tx, botId),
        suspensionOf(tx, botId),
        noticeSettingsOf(tx, botId),
        purposesShown(tx, botId, held, PURPOSES_MAX),
        holdersOf(tx, botId),
      ]),
    );
    if (bot === undefined) throw new ApiError('not_found', 'Bot not found');
    const isSuspended = standing?.suspended_at != null;
    const { revokedDataGraceDays: withdrawnDays, backupRetentionDays: backups } = this.config;
    const kept = { evidence: erasureDays(this.config), backups };
    return { bot, notice: notice.settings, isSuspended, purposes, withdrawnDays, kept, holders };
  }

  /**
   * What the page of a link is made of; `of` names one of its servers.
   * @throws ApiError 403 for another server
   */
  async facts(link: OpenLink, of?: string): Promise<PageFacts> {
    const all = of === undefined ? await this.subjectsOf(link) : [await this.subjectNamed(link, of)];
    const named = all.map((subject) => subject ?? refuse());
    const shown = named.slice(0, GUILDS_MAX);
    const further = named.slice(GUILDS_MAX, GUILDS_MAX + FURTHER_MAX);
    const subjects: HeldSubject[] = [];
    for (const subject of shown) subjects.push(await this.heldOf(subject));
    const held = new Set(
      subjects.flatMap(({ values, asked }) => [...values.keys(), ...(asked?.categories ?? [])]),
    );
    const about = await this.about(link, [...held]);
    const guilds = [...shown, ...further].map(({ ids }) => ids.guild_id);
    const servers = await this.servers.names(link.botId, guilds);
    const ids = await this.unitOfWork.read((tx) => this.held.idsOf(tx, shown));
    const isHeld = ids.some((found) => found != null);
    return { ...about, subjects, servers, further, hasMore: all.length > GUILDS_MAX + FURTHER_MAX, isHeld };
  }

  private async subjectsOf({ botId, userId, subject }: OpenLink): Promise<NamedSubject[]> {
    if (subject !== undefined) return [subject];
    return this.held.inAllGuilds(botId, userId, GUILDS_MAX + FURTHER_MAX + 1);
  }

  async ofGuild(subject: NamedSubject): Promise<GuildFacts> {
    const names = this.servers.names(subject.botId, [subject.ids.guild_id]);
    const [decided, servers] = await Promise.all([this.decidedIn(subject), names]);
    return { ...decided, servers };
  }

  /**
   * {@link ofGuild} with the declarations of the categories that a copy names: of the first {@link PURPOSES_MAX} that have values with
   * their fields, and of those that a decision names without.
   */
  async copied(subject: NamedSubject): Promise<CopiedFacts> {
    const facts = await this.ofGuild(subject);
    const { refusals } = facts;
    const refused = [...refusals.objections, ...refusals.restrictions].map(({ category }) => category ?? []);
    const decided = [...decisionsOf(facts).map(({ key }) => key), ...refused.flat()];
    return this.unitOfWork.read(async (tx) => {
      const stored = await storedKeys(tx, subject, PURPOSES_MAX);
      const named = [...stored, ...decided];
      const purposes = await purposesShown(tx, subject.botId, named, PURPOSES_MAX, stored);
      return { ...facts, purposes, stored };
    });
  }

  /** What `server/category` names of a link; undefined for another server, and for a category that is not declared. */
  async categoryOf(link: OpenLink, named: string): Promise<OneCategory | undefined> {
    const [guild = '', category] = named.split('/', 2);
    const subject = await this.subjectNamed(link, guild);
    if (subject === undefined) return undefined;
    const { purposes } = await this.about(link, category === undefined ? [] : [category]);
    const purpose = purposes.find(({ key }) => key === category);
    return purpose && { subject, purpose, ...(await this.ofGuild(subject)) };
  }

  /** The words of a text that users were shown. */
  words({ botId }: OpenLink, digest: string): Promise<ShownWords | undefined> {
    return this.unitOfWork.read((tx) => wordsFound(tx, botId, digest));
  }

  /** The subject of a link that a form names by {@link guildNamed}; undefined for another one. */
  async subjectNamed(
    { botId, userId, subject }: OpenLink,
    guild: string | undefined,
  ): Promise<NamedSubject | undefined> {
    if (subject !== undefined) return guildNamed(subject) === guild ? subject : undefined;
    return guild === undefined ? undefined : this.held.inGuildNamed(botId, userId, guild);
  }

  private async decidedIn(subject: NamedSubject): Promise<Decisions> {
    const [status, shown, refusals] = await Promise.all([
      this.consents.status(subject),
      this.receipts.shown(subject),
      this.refusals.of(subject),
    ]);
    return { status, ...shown, refusals };
  }

  /** Everything about one subject that its page shows. */
  private async heldOf(subject: NamedSubject): Promise<HeldSubject> {
    const { botId, ids } = subject;
    const [decided, history, events, coverage, values] = await Promise.all([
      this.decidedIn(subject),
      this.receipts.history(subject, { ...ids, page_size: `${ENTRIES_MAX}` }),
      this.audit.list(botId, { ...ids, page_size: `${ENTRIES_MAX + 1}` }, subject),
      this.requests.coverage(subject),
      this.unitOfWork.read((tx) => readValues(tx, this.holders.all(), subject)),
    ]);
    const words = await this.withWords(botId, itemsOf(history));
    return { subject, ...decided, ...values, history: words, events: itemsOf(events), coverage };
  }

  /** Entries with the words that were shown for them, each text read once. */
  private withWords(botId: string, entries: readonly HistoryEntry[]): Promise<HistoryEntry[]> {
    return this.unitOfWork.read(async (tx) => {
      const known = new Map<string, ShownWords | undefined>();
      for (const { texts } of entries)
        for (const { digest } of texts.slice(0, 1))
          if (!known.has(digest)) known.set(digest, await wordsFound(tx, botId, digest));
      return entries.map((entry) => {
        const [text] = entry.texts;
        const words = text && known.get(text.digest);
        return { ...entry, words: words && { ...words, language: text.language } };
      });
    });
  }
}

/** The items of a list. The history has them as JSON texts, since it is stored as JSON. */
function itemsOf<Item>({ items }: ListPage): Item[] {
  return Array.from(items, (item) => (item instanceof JsonText ? JSON.parse(item.text) : item) as Item);
}
