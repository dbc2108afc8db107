import { isDeepStrictEqual } from 'node:util';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, invalidRequest } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { lockBot } from './bot-queries';
import type { RegisterBot } from './bots.dto';
import type { ChangeNoticeSettings, NoticeRecipient, NoticeSettingsView } from './notice-settings.dto';
import { countryIn, isThirdCountry } from './notice-texts';

type Given<T> = { readonly [Name in keyof T]?: NonNullable<T[Name]> };

export type Recipient = Given<Omit<NoticeRecipient, 'name'>> & { readonly name: string };

/** What a bot says about itself; a name that is not set is not there. */
export type NoticeSettings = Omit<Given<ChangeNoticeSettings>, 'recipients'> & {
  readonly recipients?: readonly Recipient[];
};

interface StoredNotice {
  readonly settings: NoticeSettings;
  readonly changes: NoticeSettingsView['changes'];
  readonly updatedAt: string | null;
}

const CHANGES_MAX = 20;
const NOTHING: StoredNotice = { settings: {}, changes: [], updatedAt: null };

/** The settings of a bot's notice as they are; empty for a bot that has set nothing. */
export async function noticeSettingsOf(
  reader: Pick<UnitOfWork, 'get'>,
  botId: string,
): Promise<StoredNotice> {
  const row = await reader.get<{ text: string; updated_at: string }>(
    'SELECT text, updated_at FROM bot_notices WHERE bot_id = ?',
    botId,
  );
  if (row === undefined) return NOTHING;
  return { ...(JSON.parse(row.text) as Omit<StoredNotice, 'updatedAt'>), updatedAt: row.updated_at };
}

/** Notes that the notice of a bot has changed by something that leaves no row with a time of its own. */
export async function touchNotice(tx: Tx, botId: string, at: string): Promise<void> {
  await tx.run('UPDATE bot_notices SET updated_at = ? WHERE bot_id = ?', at, botId);
}

/**
 * Keeps what a bot says about itself in its privacy notice, and what was changed of it when. The audit log is about acts on
 * data of users, so that these changes are kept here.
 */
@Injectable()
export class NoticeSettingsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async view(botId: string): Promise<NoticeSettingsView> {
    return this.viewOf(botId, await this.unitOfWork.read((tx) => noticeSettingsOf(tx, botId)));
  }

  /**
   * Changes what is given; null clears.
   * @throws ApiError 400 for a public notice without a controller, and for automated decisions that no text explains
   */
  change(botId: string, given: ChangeNoticeSettings): Promise<NoticeSettingsView> {
    return this.unitOfWork.write(async (tx) => {
      // Changes of the same bot take turns.
      await lockBot(tx, botId, 'NO KEY UPDATE');
      const before = await noticeSettingsOf(tx, botId);
      const after = changed(before, given, this.clock.nowIso());
      if (after !== before) await storeNotice(tx, botId, after);
      return this.viewOf(botId, after);
    });
  }

  private viewOf(botId: string, { settings, changes, updatedAt }: StoredNotice): NoticeSettingsView {
    const { publicUrl, revokedDataGraceDays } = this.config;
    const countries = countriesOf(settings);
    return {
      ...(settings as ChangeNoticeSettings),
      ...{ updated_at: updatedAt, changes, data_after_withdrawal: revokedDataGraceDays ?? null },
      ...(countries.length > 0 && { countries }),
      ...(settings.public === true &&
        publicUrl !== undefined && { page_url: `${publicUrl}/notice/${botId}` }),
    };
  }
}

/**
 * The first settings of a bot that is being registered.
 * @throws ApiError 400 as a change does, with the names of fields behind `notice.`
 */
export function firstNotice(given: RegisterBot['notice'], at: string): StoredNotice {
  return given == null || typeof given === 'string' ? NOTHING : changed(NOTHING, given, at, 'notice.');
}

/** What a change makes of the settings: the same object where it changes nothing. */
function changed(
  before: StoredNotice,
  given: ChangeNoticeSettings,
  updatedAt: string,
  path = '',
): StoredNotice {
  const settings = withoutNulls({ ...before.settings, ...mentioned(given) }) as NoticeSettings;
  requireWhole(settings, path);
  const names = Object.keys(given) as (keyof NoticeSettings)[];
  const fields = names.filter((name) => !isDeepStrictEqual(before.settings[name], settings[name]));
  if (fields.length === 0) return before;
  const changes = [{ at: updatedAt, fields }, ...before.changes].slice(0, CHANGES_MAX);
  return { settings, changes, updatedAt };
}

/** Stores the settings of a bot; nothing where nothing was set. */
export async function storeNotice(tx: Tx, botId: string, stored: StoredNotice): Promise<void> {
  const { updatedAt, ...text } = stored;
  if (updatedAt === null) return;
  await tx.run(
    `INSERT INTO bot_notices (bot_id, text, updated_at) VALUES (?, ?, ?)
     ON CONFLICT (bot_id) DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at`,
    ...[botId, JSON.stringify(text), updatedAt],
  );
}

/** The countries of the recipients, each once, in the order of the recipients. */
function countriesOf({ recipients = [] }: NoticeSettings): NonNullable<NoticeSettingsView['countries']> {
  const codes = new Set(recipients.flatMap(({ country }) => country ?? []));
  return [...codes].map((country) => ({
    country,
    name_de: countryIn('de', country),
    name_en: countryIn('en', country),
    third_country: isThirdCountry(country),
  }));
}

/** The fields that a change names. An empty list of recipients clears as null does. */
function mentioned(given: ChangeNoticeSettings): object {
  const { recipients } = given;
  if (recipients == null) return withoutUndefined(given);
  const named = recipients.map(withoutNulls);
  return { ...withoutUndefined(given), recipients: named.length === 0 ? null : named };
}

function withoutUndefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function withoutNulls(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
}

function requireWhole(settings: NoticeSettings, path: string): void {
  const { controller_name, automated_decisions, automated_decisions_de, automated_decisions_en } = settings;
  if (settings.public === true && controller_name === undefined)
    throw invalidRequest([
      {
        field: `${path}controller_name`,
        message: `is needed by a public notice: give it, or set ${path}public to false`,
      },
    ]);
  if (automated_decisions !== 'exist') return;
  if (automated_decisions_de !== undefined || automated_decisions_en !== undefined) return;
  const message = `or ${path}automated_decisions_en must explain the decisions: what is decided, by which logic and with which effect`;
  throw invalidRequest([{ field: `${path}automated_decisions_de`, message }]);
}
