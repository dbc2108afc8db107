import { type Lethe, ProcessingRefusedError, requireNumber } from '@lethe/sdk';
import { about } from './about';
import type { Asked, Component } from './asked';
import { type CommandData, commandOf } from './commands';
import { agree, choose, consent, decline, refusalWord } from './consent';
import { ACTS, isOurs, parseCustomId } from './custom-id';
import { exportFile } from './export-file';
import { BotFacts } from './facts';
import { erase, forget } from './forget';
import { page as ownPage } from './page';
import { verifyUrlOf } from './public-url';
import { refusals } from './refusals';
import { choice, object, restrict, sure, unrestrict } from './refusing';
import { type Reply, reply } from './reply';
import { reportTo } from './report';
import { revoke, withdraw } from './revoke';
import { DIRECT_MESSAGES } from './scope';
import { status } from './status';
import { type TextTable, wordsFor } from './texts';
import { failureWord, type Turn, whereOf } from './turn';
import { type Then, Waiting } from './waiting';

const CONFIRM_SECONDS = 300;

export interface PrivacyOptions {
  readonly lethe: Lethe;
  /** The version of your registered texts; without one it is a digest of the declarations. */
  readonly consentVersion?: string;
  /** The categories that consent is asked for, at most 50; all that are declared by default. */
  readonly categories?: readonly string[];
  /** Words of further languages, or other words. */
  readonly texts?: TextTable;
  /** How long the button of an erasure works; 5 minutes by default. */
  readonly confirmSeconds?: number;
  /** `PUBLIC_URL` of the service: its page /verify is linked beside receipts and the certificate of one server, unless it is local. */
  readonly publicUrl?: string;
  /** Declares `/privacy` also for users who install the app on their account: on every server, and in private channels. */
  readonly userInstall?: boolean;
  /** Called for every failure; `console.error` by default. The user gets an answer in any case. */
  readonly onError?: (error: unknown) => void;
  readonly now?: () => number;
}

/** The conversation about privacy: from what a user has done to the answer that only this user sees. */
export class Privacy {
  private readonly facts: BotFacts;
  private readonly waiting: Waiting;
  private readonly verifyUrl: string | undefined;

  constructor(private readonly options: PrivacyOptions) {
    // Discord keeps a button for as long as its message; a day is more than anyone hesitates.
    requireNumber('confirmSeconds', options.confirmSeconds, 1, 86_400);
    const { lethe, categories, now = Date.now, publicUrl } = options;
    this.facts = new BotFacts(lethe, categories, now, (error) => this.report(error));
    this.waiting = new Waiting(now);
    this.verifyUrl = verifyUrlOf(publicUrl);
  }

  /** The declaration of `/privacy` for Discord, in all languages. */
  get command(): CommandData {
    const { texts, userInstall } = this.options;
    return commandOf(texts, userInstall);
  }

  /** Whether `/privacy` or a button of it was used. */
  handles({ act }: Asked): boolean {
    return act.kind === 'command' ? act.name === this.command.name : isOurs(act.customId);
  }

  /** The answer. It never rejects: a failure is reported to `onError` and said in words. */
  reply(asked: Asked): Promise<Reply> {
    return this.answered(asked, (turn) => this.answer(turn));
  }

  /**
   * Asks the user for consent, for a command of your own that was refused with `ConsentRequiredError`. `then` continues
   * the command: it is called once, after the consent is recorded, and a text that it answers is shown to the user. Without
   * it, after a restart and after 15 minutes, the user is asked to give the command again.
   */
  ask(asked: Asked, then?: Then): Promise<Reply> {
    const waits = this.waiting.add(asked.userId, then);
    return this.answered(asked, (turn) => consent(turn, { waits }));
  }

  private async answered(asked: Asked, answer: (turn: Turn) => Promise<Reply> | Reply): Promise<Reply> {
    const words = wordsFor(asked.locale, this.options.texts);
    try {
      return await answer(this.turnOf(asked));
    } catch (error) {
      this.facts.forget();
      this.report(error);
      return reply({ content: words.say(failureWord(error)) });
    }
  }

  /**
   * The answer to an act of a user that failed in the bot itself. The error is reported, but for `ProcessingRefusedError`:
   * the user has decided so, and reads that.
   */
  failed({ locale }: Asked, error?: unknown): Reply {
    const isRefused = error instanceof ProcessingRefusedError;
    if (error !== undefined && !isRefused) this.report(error);
    const { say } = wordsFor(locale, this.options.texts);
    return reply({ content: say(isRefused ? refusalWord(error) : 'failed') });
  }

  /** Hands a failure to `onError`. */
  report(error: unknown): void {
    reportTo(this.options.onError, error);
  }

  private turnOf(asked: Asked): Turn {
    const { lethe, texts, consentVersion, confirmSeconds = CONFIRM_SECONDS, now = Date.now } = this.options;
    return {
      ...{ lethe, facts: this.facts, asked, consentVersion, confirmSeconds, now },
      ...{ waiting: this.waiting, verifyUrl: this.verifyUrl, report: (error) => this.report(error) },
      words: wordsFor(asked.locale, texts),
      who: { user_id: asked.userId, guild_id: asked.guildId ?? DIRECT_MESSAGES },
    };
  }

  private answer(turn: Turn): Promise<Reply> | Reply {
    const { act } = turn.asked;
    if (act.kind === 'component') return this.pressed(turn, act);
    const where = whereOf(act.options['where']);
    switch (act.subcommand) {
      case 'consent':
        return consent(turn);
      case 'status':
        return status(turn);
      case 'export':
        return exportFile(turn, where);
      case 'page':
        return ownPage(turn, where);
      case 'revoke':
        return revoke(turn);
      case 'forget':
        return forget(turn, where);
      case 'object':
        return refusals(turn);
      case undefined:
      default:
        return about(turn);
    }
  }

  private pressed(turn: Turn, { customId, values }: Component): Promise<Reply> | Reply {
    const { act = '', parts = [] } = parseCustomId(customId) ?? {};
    const [view, page, mask, binding, waits] = parts;
    switch (act) {
      case ACTS.page:
        if (view === 'consent') return consent(turn, { page, mask, binding, waits });
        if (view === 'refusals') return refusals(turn, Number(page));
        return view === 'status' ? status(turn, Number(page)) : about(turn, Number(page));
      case ACTS.choose:
        return choose(turn, parts);
      case ACTS.agree:
      case ACTS.agreeToChosen:
        return agree(turn, parts);
      case ACTS.decline:
        return decline(turn);
      case ACTS.withdraw:
        return withdraw(turn, values);
      case ACTS.withdrawAll:
        return withdraw(turn);
      case ACTS.forget:
        return erase(turn, parts);
      case ACTS.keep:
        // The other button may have answered in this message: its file stays.
        return reply({ content: turn.words.say('forget_kept'), keepsFiles: true });
      case ACTS.choice:
        return choice(turn, parts);
      case ACTS.restrict:
        return restrict(turn, parts);
      case ACTS.unrestrict:
        return unrestrict(turn, parts);
      case ACTS.object:
        return sure(turn, parts);
      case ACTS.objectNow:
        return object(turn, parts);
      default:
        return reply({ content: turn.words.say('outdated') });
    }
  }
}
