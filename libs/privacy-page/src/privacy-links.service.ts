import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isKeyInForce, lockBot } from '@app/bots';
import { holdSubject } from '@app/consent';
import { InstallationKeys, SubjectDigests, SubjectKeys, SubjectTexts } from '@app/crypto';
import { botDeleted, type Tx, UnitOfWork } from '@app/database';
import { type Caller } from '@app/http';
import { type Claim, EncryptedForms } from '@app/idempotency';
import { Clock, conflict, notFound, Random } from '@app/kernel';
import { encryptedBy } from '@app/primitives';
import { guildOf, type NamedSubject, type SubjectIds } from '@app/subjects';
import { ALL_GUILDS } from './privacy-link.entity';
import {
  ACTS,
  EXPIRES_DEFAULT,
  type NewPrivacyLink,
  type PageAct,
  type PrivacyLinkDeletedView,
  type PrivacyLinkView,
} from './privacy-links.dto';
import {
  findLink,
  hasAtLeast,
  insertLink,
  keepNewest,
  removeExpired,
  removeLink,
  type StoredLink,
} from './privacy-links.sql';
import { PublicUrl } from './public-url';

const TABLE = 'privacy_links';
const TOKEN_BYTES = 32;
/** Links of one subject, of which the oldest end, and of one bot. */
const OF_SUBJECT_MAX = 10;
const OF_BOT_MAX = 10_000;

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
    private readonly forms: EncryptedForms,
    private readonly origin: PublicUrl,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** @throws ApiError 400 for a guild beside `scope`; 409 `limit_reached` */
  create({ botId, keyId }: Caller, input: NewPrivacyLink, claim: Claim): Promise<PrivacyLinkView> {
    const guild_id = guildOf(input);
    const ids = { user_id: input.user_id, guild_id: guild_id ?? ALL_GUILDS };
    const subject = this.digests.named(botId, ids);
    const create = async (tx: Tx): Promise<PrivacyLinkView> => {
      if ((await lockBot(tx, botId, 'KEY SHARE')) === undefined) throw botDeleted();
      const createdAt = this.clock.nowIso();
      await removeExpired(tx, botId, createdAt);
      await keepNewest(tx, subject, OF_SUBJECT_MAX - 1);
      if (await hasAtLeast(tx, botId, OF_BOT_MAX))
        throw conflict('limit_reached', `A bot can have ${OF_BOT_MAX} privacy links`, { limit: OF_BOT_MAX });
      const id = this.random.uuid();
      const token = this.random.bytes(TOKEN_BYTES).toString('base64url');
      const expiresIn = input.expires_in ?? EXPIRES_DEFAULT;
      const expiresAt = new Date(Date.parse(createdAt) + expiresIn * 1000).toISOString();
      await insertLink(tx, {
        ...{ botId, id, keyId, createdAt, expiresAt },
        token: digestOf(token),
        guildId: subject.guildId,
        userId: subject.userId,
        subject: await this.encrypted(tx, subject, id),
        allow: (input.allow ?? ACTS).join(','),
        language: input.language ?? null,
      });
      return { id, url: `${this.origin.url}/p/${token}`, expires_at: expiresAt };
    };
    const form =
      guild_id === undefined
        ? this.forms.ofInstallation<PrivacyLinkView>()
        : this.forms.ofSubject<PrivacyLinkView>(subject);
    return this.unitOfWork.write(claim.once(form, create));
  }

  /** @throws ApiError 404 for an unknown link, and for one of another bot */
  async remove(botId: string, givenId: string): Promise<PrivacyLinkDeletedView> {
    const id = givenId.toLowerCase();
    if (!(await this.unitOfWork.write((tx) => removeLink(tx, botId, id)))) throw notFound('Privacy link');
    return { id, deleted: true };
  }

  /** @throws ApiError 404, the same for every link that is not in force */
  async open(token: string): Promise<OpenLink> {
    const link = await findLink(this.unitOfWork, digestOf(token));
    if (link === undefined) throw dead();
    const now = this.clock.nowIso();
    const { id, botId, keyId, expiresAt, language } = link;
    const isOpen = expiresAt > now && (await isKeyInForce(this.unitOfWork, botId, keyId, now));
    const ids = isOpen ? await this.decrypted(link) : undefined;
    if (ids === undefined) throw dead();
    return {
      ...{ id, token, botId, language, expiresAt },
      userId: ids.user_id,
      subject: ids.guild_id === ALL_GUILDS ? undefined : this.digests.named(botId, ids),
      allow: link.allow.split(',') as PageAct[],
    };
  }

  /** Encrypts with the installation key where nothing is held about the subject: a link alone stores no subject. */
  private async encrypted(tx: Tx, subject: NamedSubject, id: string): Promise<string> {
    const text = JSON.stringify(subject.ids);
    await holdSubject(tx, subject);
    if ((await this.subjectKeys.idOf(tx, subject)) === undefined)
      return this.installationKeys.installation.encrypt(text, contextOf(subject.botId, id));
    return this.texts.encrypt(tx, subject, TABLE, id, text);
  }

  /** Undefined once the subject was erased. */
  private async decrypted(link: StoredLink): Promise<SubjectIds | undefined> {
    const { botId, id, subject: encrypted } = link;
    const { installation } = this.installationKeys;
    const text =
      encryptedBy(encrypted) === installation.id
        ? installation.decrypt(encrypted, contextOf(botId, id))
        : await this.texts.decrypt(link, TABLE, id, encrypted);
    return text === undefined ? undefined : (JSON.parse(text) as SubjectIds);
  }
}

/** An unkeyed hash suffices: 256 random bits cannot be guessed. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}

function contextOf(botId: string, id: string): string {
  return `${TABLE}/${botId}/${id}`;
}

function dead(): Error {
  return notFound('Privacy link');
}
