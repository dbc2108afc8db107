import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { lockBot, scopesInForce } from '@app/bots';
import { holdSubject } from '@app/consent';
import {
  type Digest,
  encryptedBy,
  guildOf,
  InstallationKeys,
  type NamedSubject,
  type Subject,
  SUBJECT_WHERE,
  SubjectDigests,
  type SubjectIds,
  SubjectKeys,
  SubjectTexts,
  subjectValues,
  withoutIndex,
} from '@app/crypto';
import { botDeleted, type Tx, UnitOfWork } from '@app/database';
import { type Caller, insufficientScope, scopeBits } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import { ApiError, Clock, conflict, notFound, Random } from '@app/kernel';
import { ALL_GUILDS, PrivacyLink } from './privacy-link.entity';
import {
  ACTS,
  EXPIRES_DEFAULT,
  mayOffer,
  type NewPrivacyLink,
  type PageAct,
  type PrivacyLinkDeletedView,
  type PrivacyLinkView,
  SCOPE_OF,
} from './privacy-links.dto';
import { removeExpired } from './privacy-links.holder';
import { PublicUrl } from './page-forms';

const TABLE = 'privacy_links';
const ADMIN = scopeBits(['admin']);
const TOKEN_BYTES = 32;
/** Links of one subject, of which the oldest end, and of one bot. */
const OF_SUBJECT_MAX = 10;
const OF_BOT_MAX = 10_000;

const BY_TOKEN = `SELECT bot_id, id, key_id, guild_id, user_id, subject, allow, language, expires_at
  FROM privacy_links WHERE token = ?`;

type LinkRow = Record<'bot_id' | 'id' | 'key_id' | 'subject' | 'allow' | 'expires_at', string> & {
  readonly guild_id: Digest;
  readonly user_id: Digest;
  readonly language: string | null;
};

/** 404 for an act by a link that has ended since it was opened. */
export class LinkEnded extends ApiError {
  constructor() {
    super('not_found', 'Privacy link not found');
  }
}

/** A link that is in force. */
export interface OpenLink {
  readonly id: string;
  readonly token: string;
  readonly botId: string;
  readonly userId: string;
  /** Undefined for all guilds. */
  readonly subject: NamedSubject | undefined;
  readonly allow: readonly PageAct[];
  readonly language: string | null;
  readonly expiresAt: string;
}

/**
 * Links to privacy pages. A link is a random token, of which the digest is stored. It ends at its time, with the API key that
 * has made it, with the erasure of its subject and when it is deleted.
 */
@Injectable()
export class PrivacyLinks {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly digests: SubjectDigests,
    private readonly texts: SubjectTexts,
    private readonly subjectKeys: SubjectKeys,
    private readonly installationKeys: InstallationKeys,
    private readonly acts: Acts,
    private readonly origin: PublicUrl,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * @throws ApiError 400 for a guild beside `scope`; 403 `insufficient_scope` for an act that the key may not do; 409
   * `limit_reached`
   */
  async create(
    { botId, keyId, scopes }: Caller,
    input: NewPrivacyLink,
    claim: Claim,
  ): Promise<PrivacyLinkView> {
    const allow = input.allow ?? ACTS.filter((act) => mayOffer(scopes, act));
    const lacking = allow.find((act) => !mayOffer(scopes, act));
    if (lacking !== undefined) throw insufficientScope(SCOPE_OF[lacking]);
    const guild_id = guildOf(input);
    const ids = { user_id: input.user_id, guild_id: guild_id ?? ALL_GUILDS };
    const subject = this.digests.named(botId, ids);
    const create = async (tx: Tx): Promise<PrivacyLinkView> => {
      if ((await lockBot(tx, botId, 'KEY SHARE')) === undefined) throw botDeleted();
      // Before any row of a link: links of one subject are made one after the other, and an erasure locks in this order. Those of several
      // subjects are not: units that run at once can exceed the limit of the bot by their number.
      await holdSubject(tx, subject);
      const createdAt = this.clock.nowIso();
      await removeExpired(tx, botId, this.clock.confirmedIso());
      await keepNewest(tx, subject, createdAt);
      if (await hasMost(tx, botId, createdAt))
        throw conflict('limit_reached', `A bot can have ${OF_BOT_MAX} privacy links`, { limit: OF_BOT_MAX });
      const id = this.random.uuid();
      const token = this.random.bytes(TOKEN_BYTES).toString('base64url');
      const expiresIn = input.expires_in ?? EXPIRES_DEFAULT;
      const expiresAt = new Date(Date.parse(createdAt) + expiresIn * 1000).toISOString();
      await tx.manager.insert(PrivacyLink, {
        botId,
        id,
        token: digestOf(token),
        keyId,
        guildId: subject.guildId,
        userId: subject.userId,
        subject: await this.encrypted(tx, subject, id),
        allow: allow.join(','),
        language: input.language ?? null,
        createdAt,
        expiresAt,
      });
      return { id, url: `${this.origin.url}/p/${token}`, expires_at: expiresAt };
    };
    return this.acts.once(claim, create, { subject: guild_id === undefined ? undefined : subject });
  }

  /** {@link remove} for a key. @throws ApiError 403 for a link of another key, unless the key has the scope `admin` */
  async removeFor({ botId, keyId, scopes }: Caller, id: string): Promise<PrivacyLinkDeletedView> {
    if ((scopes & ADMIN) === 0) {
      const sql = 'SELECT key_id FROM privacy_links WHERE bot_id = ? AND id = ?';
      const link = await this.unitOfWork.get<{ key_id: string }>(sql, botId, id.toLowerCase());
      if (link !== undefined && link.key_id !== keyId) throw insufficientScope('admin');
    }
    return this.remove(botId, id);
  }

  /** @throws ApiError 404 for an unknown link, and for one of another bot */
  async remove(botId: string, givenId: string): Promise<PrivacyLinkDeletedView> {
    const id = givenId.toLowerCase();
    const sql = 'DELETE FROM privacy_links WHERE bot_id = ? AND id = ?';
    if ((await this.unitOfWork.write((tx) => tx.run(sql, botId, id))) === 0) throw notFound('Privacy link');
    return { id, deleted: true };
  }

  /** @throws ApiError 404, the same for every link that is not in force */
  async open(token: string): Promise<OpenLink> {
    const link = await this.unitOfWork.get<LinkRow>(BY_TOKEN, digestOf(token));
    if (link === undefined) throw notFound('Privacy link');
    const now = this.clock.nowIso();
    const { id, bot_id: botId, key_id: keyId, expires_at: expiresAt, language } = link;
    const scopes = expiresAt > now ? await scopesInForce(this.unitOfWork, botId, keyId, now) : 0;
    const allow = (link.allow.split(',') as PageAct[]).filter((act) => mayOffer(scopes, act));
    const ids = allow.length > 0 ? await this.decrypted(link) : undefined;
    if (ids === undefined) throw notFound('Privacy link');
    return {
      id,
      token,
      botId,
      userId: ids.user_id,
      subject: ids.guild_id === ALL_GUILDS ? undefined : this.digests.named(botId, ids),
      allow,
      language,
      expiresAt,
    };
  }

  /**
   * Requires that an opened link is still there for a subject, in a unit that has locked the subject: an erasure since then has
   * removed the link, or of a link for all guilds this subject. @throws LinkEnded
   */
  async requireThere(tx: Tx, { botId, id, subject: only }: OpenLink, subject: Subject): Promise<void> {
    const sql = 'SELECT 1 FROM privacy_links WHERE bot_id = ? AND id = ?';
    if ((await tx.get(sql, botId, id)) === undefined) throw new LinkEnded();
    if (only === undefined && (await this.subjectKeys.idOf(tx, subject)) === undefined) throw new LinkEnded();
  }

  /** In a unit that has locked the subject. Encrypts with the installation key when nothing is held about the subject: a link alone stores no subject. */
  private async encrypted(tx: Tx, subject: NamedSubject, id: string): Promise<string> {
    const text = JSON.stringify(subject.ids);
    if ((await this.subjectKeys.idOf(tx, subject)) === undefined)
      return this.installationKeys.installation.encrypt(text, contextOfLink(subject.botId, id));
    return this.texts.encrypt(tx, subject, TABLE, id, text);
  }

  /** Undefined once the subject was erased. */
  private async decrypted(link: LinkRow): Promise<SubjectIds | undefined> {
    const { bot_id: botId, guild_id: guildId, user_id: userId, id, subject: encrypted } = link;
    const { installation } = this.installationKeys;
    const text =
      encryptedBy(encrypted) === installation.id
        ? installation.decrypt(encrypted, contextOfLink(botId, id))
        : await this.texts.decrypt(undefined, { botId, guildId, userId }, TABLE, id, encrypted);
    return text === undefined ? undefined : (JSON.parse(text) as SubjectIds);
  }
}

/** An unkeyed hash suffices: 256 random bits cannot be guessed. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}

function contextOfLink(botId: string, id: string): string {
  return `${TABLE}/${botId}/${id}`;
}

/**
 * Ends the oldest links of a subject, so that it may have one more. A link that has expired keeps its row until the time is
 * confirmed, and does not count.
 */
async function keepNewest(tx: Tx, subject: Subject, nowIso: string): Promise<void> {
  // The links of the subject are few: those of its bot are not.
  const links = `FROM privacy_links WHERE ${SUBJECT_WHERE} AND ${withoutIndex('expires_at')} > ?`;
  const newest = `SELECT id ${links} ORDER BY id DESC LIMIT ${OF_SUBJECT_MAX - 1}`;
  const values = [...subjectValues(subject), nowIso];
  await tx.run(`DELETE ${links} AND id NOT IN (${newest})`, ...values, ...values);
}

async function hasMost(tx: Tx, botId: string, nowIso: string): Promise<boolean> {
  const sql = `SELECT 1 FROM privacy_links WHERE bot_id = ? AND expires_at > ? LIMIT 1 OFFSET ${OF_BOT_MAX - 1}`;
  return (await tx.get(sql, botId, nowIso)) !== undefined;
}
