import type { AnswerStream } from '@app/http';
import { Clock, CONFIG, type Config, masterKeyPlace } from '@app/kernel';
import { PublicUrl } from '@app/pages';
import { Inject, Injectable } from '@nestjs/common';
import { DeclarationGaps } from './declaration-gaps';
import type { Declared } from './declared-facts';
import { type DocumentLanguage, TEXTS } from './documents.texts';
import { dossierAfter, dossierBefore, dossierHead } from './dossier-sections';
import { type PaperFormat, Papers } from './papers';
import { ProcessingRecords } from './processing-record.service';
import { transferSentences } from './record-sections';
import type { StatsBucket } from './reports.dto';
import type { ReviewDossierHead } from './review-dossier.dto';
import { textOf } from './said';
import { StatsService } from './stats.service';

/** Days of the numbers of a dossier, today included. */
const DAYS = 90;
const ALGORITHM = 'ChaCha20-Poly1305 (RFC 8439)';

/**
 * The dossier with which a bot answers the questions of its platform: what is stored, for how long, how it is encrypted,
 * who has access, and how it is erased on request. It has what the bot has declared, the settings of this installation and
 * numbers of acts; no key, no path of a file, and nothing about a user.
 */
@Injectable()
export class ReviewDossiers {
  constructor(
    private readonly papers: Papers,
    private readonly records: ProcessingRecords,
    private readonly stats: StatsService,
    private readonly publicUrl: PublicUrl,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** @throws ApiError 503 while too many events are not sealed yet. The stream answers 404 when the bot is deleted. */
  async of(botId: string, format: PaperFormat, language: DocumentLanguage): Promise<AnswerStream> {
    const counted = await this.stats.ofLastDays(botId, DAYS);
    return this.papers.send({ botId, language, format }, (declared) => {
      const dossier = this.headOf(declared, language, counted);
      const gaps = new DeclarationGaps(declared, language);
      gaps.needs(dossier.privacy_policy ?? undefined, 'notice_url', TEXTS[language].dossier.policyGap);
      const making = { language, declared, dossier };
      return {
        fields: dossier,
        ...{ gaps, hasGapsInJson: true, head: dossierHead(making) },
        before: () => dossierBefore(making),
        after: () => dossierAfter(making),
      };
    });
  }

  private headOf(declared: Declared, language: DocumentLanguage, counted: StatsBucket): ReviewDossierHead {
    const record = this.records.headOf(declared, language);
    const { dossier } = TEXTS[language];
    const transfers = transferSentences(language, declared).map(textOf);
    return {
      generated_at: record.generated_at,
      language,
      bot: { ...record.controller, registered_at: declared.bot.createdAt },
      privacy_policy: this.policyOf(declared),
      notice_settings: declared.settings as ReviewDossierHead['notice_settings'],
      data_subjects: record.data_subjects,
      time_limits: record.time_limits,
      encryption: {
        algorithm: ALGORITHM,
        master_key: masterKeyPlace(this.config),
        statements: dossier.encryptionFacts,
      },
      access: [
        ...record.recipients,
        { recipient: dossier.user, host: null, receives: dossier.userReceives },
        { recipient: dossier.operator, host: null, receives: dossier.operatorReceives },
      ],
      ...this.countsOf(declared, language, counted),
      security_measures: record.security_measures,
      backups: this.backups(language),
      transfers: [...transfers, record.transfers].join('\n'),
      to_add: dossier.additions,
    };
  }

  private policyOf({ bot, settings }: Declared): string | null {
    if (settings.notice_url !== undefined) return settings.notice_url;
    return settings.public === true ? new URL(`/notice/${bot.id}`, this.publicUrl.url).href : null;
  }

  private countsOf(
    { bot: { createdAt: registeredAt }, storesWithoutConsent }: Declared,
    language: DocumentLanguage,
    { at, counts, erasure_ms: times }: StatsBucket,
  ): Pick<ReviewDossierHead, 'deletion' | 'consent'> {
    const { deletionFacts, consentFacts, consentUnlessNamed } = TEXTS[language].dossier;
    const [always = '', ...others] = consentFacts;
    const statements = [storesWithoutConsent ? consentUnlessNamed : always, ...others];
    const [to, from] = [this.clock.nowIso(), registeredAt > at ? registeredAt : at].map((one) =>
      one.slice(0, 10),
    ) as [string, string];
    const count = (type: string): number => counts[type] ?? 0;
    return {
      deletion: {
        ...{ from, to, requested: count('deletion_requested'), completed: count('deletion_completed') },
        failed: count('deletion_failed'),
        ...{ median_ms: times?.p50 ?? null, longest_ms: times?.max ?? null, statements: deletionFacts },
      },
      consent: {
        ...{ from, to, requested: count('consent_requested'), accepted: count('consent_accepted') },
        ...{ revoked: count('consent_revoked'), statements },
      },
    };
  }

  private backups(language: DocumentLanguage): ReviewDossierHead['backups'] {
    const { days, dossier } = TEXTS[language];
    const { backupRetentionDays: kept } = this.config;
    const first = kept === 0 ? dossier.noBackups : dossier.backupsKept(days(kept));
    return { retention_days: kept, statements: [first, ...dossier.backupFacts] };
  }
}
