import { Injectable } from '@nestjs/common';
import { NO_CLAIM } from '@app/acts';
import { AuditService } from '@app/audit';
import { objectableCategories, purposesShown } from '@app/categories';
import type { NamedSubject } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import type { FormFields } from '@app/http';
import { ApiError, Clock } from '@app/kernel';
import { ServersService } from '@app/servers';
import { ProcessingRefusals, storedKeys } from '@app/user-data';
import { VIA } from './page-events';
import { refuse } from './page-forms';
import { ownOfDay } from './page-opening';
import { PageReading, PURPOSES_MAX } from './page-reading';
import { EVERYTHING, type OneGuild } from './page-refusals';
import { LinkEnded, type OpenLink, PrivacyLinks } from './privacy-links.service';
import type { PageNote } from './texts';

/** Categories of a bot that are offered for an objection. */
const OBJECTABLE_MAX = 2 * PURPOSES_MAX;
/** Restrictions that a subject can end in a day: each leaves audit events. */
const ENDED_MAX = 10;

/** Objections and restrictions on a page. Each is the act of the interface, with its audit event. */
@Injectable()
export class PageRefusing {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly reading: PageReading,
    private readonly links: PrivacyLinks,
    private readonly refusals: ProcessingRefusals,
    private readonly servers: ServersService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** What the user refuses in a server of a link; undefined for another server. */
  async find(link: OpenLink, guildId: string): Promise<OneGuild | undefined> {
    const subject = await this.reading.subjectNamed(link, guildId);
    if (subject === undefined) return undefined;
    const { botId } = link;
    const [{ isSuspended }, refusals, servers] = await Promise.all([
      this.reading.about(link, []),
      this.refusals.of(subject),
      this.servers.names(botId, [subject.ids.guild_id]),
    ]);
    const refused = [...refusals.objections, ...refusals.restrictions].map(({ category }) => category);
    const purposes = await this.unitOfWork.read(async (tx) => {
      const stored = await storedKeys(tx, subject, PURPOSES_MAX);
      const objectable = await objectableCategories(tx, botId, '');
      const keys = [...stored, ...refused, ...objectable.keys.slice(0, OBJECTABLE_MAX)].filter(
        (key) => key !== null,
      );
      return purposesShown(tx, botId, keys, PURPOSES_MAX, []);
    });
    return { subject, purposes, isSuspended, refusals, servers };
  }

  /** @throws ApiError 403 for a guild that the link is not about, and for a form without a choice */
  async object(link: OpenLink, fields: FormFields): Promise<PageNote> {
    return unlessEnded('objected', this.refusals.object(await this.chosen(link, fields)));
  }

  /** @throws ApiError as {@link object} */
  async restrict(link: OpenLink, fields: FormFields): Promise<PageNote> {
    return unlessEnded('restricted', this.refusals.restrict(await this.chosen(link, fields)));
  }

  /** @throws ApiError as {@link object} */
  async unrestrict(link: OpenLink, fields: FormFields): Promise<PageNote | 'often'> {
    const chosen = await this.chosen(link, fields);
    if (await this.isOften(chosen.subject)) return 'often';
    return unlessEnded('unrestricted', this.refusals.unrestrict(chosen));
  }

  private async chosen(
    link: OpenLink,
    { shown, category }: FormFields,
  ): Promise<Parameters<ProcessingRefusals['object']>[0]> {
    const found = await this.reading.subjectNamed(link, shown?.[0]);
    const [key = ''] = category ?? [];
    if (key === '') refuse();
    const subject = found ?? refuse();
    return {
      subject,
      category: key === EVERYTHING ? undefined : key,
      by: VIA,
      claim: NO_CLAIM,
      onceHeld: (tx) => this.links.requireThere(tx, link, subject),
    };
  }

  private async isOften(subject: NamedSubject): Promise<boolean> {
    const own = await ownOfDay(this.audit, this.clock, subject, 'consent_accepted');
    return own.filter(({ details }) => details?.['act'] === 'restriction_ended').length >= ENDED_MAX;
  }
}

/** The category was removed, or its legal basis changed, since the page was opened. */
async function unlessEnded(note: PageNote, act: Promise<unknown>): Promise<PageNote> {
  try {
    await act;
    return note;
  } catch (error) {
    if (error instanceof LinkEnded) throw error;
    if (error instanceof ApiError && (error.code === 'not_found' || error.code === 'conflict'))
      return 'unrefused';
    throw error;
  }
}
