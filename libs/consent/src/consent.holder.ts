import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import {
  amongSubjects,
  type ConsentedDataHolder,
  EndsWithDeclaration,
  type ErasedPart,
  HoldsConsentedData,
  HoldsSubjectData,
  type Subject,
  type SubjectDataHolder,
  type SubjectExport,
} from '@app/crypto';
import { withoutDeclaration } from './consent-changes';
import { countHistory, historyOf, newestTime } from './consent-history';
import { wordsFound } from './consent-words';
import type { Consent } from './consent.entity';
import { consentsNaming, findConsent, findConsents, putConsents, removeConsents } from './consent.sql';

/** The subject's consent and its history. */
@Injectable()
@HoldsSubjectData()
export class ConsentHolder implements SubjectDataHolder {
  readonly tables = ['consents', 'consent_history'];
  /** A row without a version closes a subject that has no consent. */
  readonly erasable = { consents: `consents.version <> ''` };

  async export(tx: Tx, subject: Subject, full: boolean): Promise<SubjectExport> {
    const found = await findConsent(tx, subject);
    const consent = found && (full ? stored(found) : exported(found));
    // A declined request leaves its history alone.
    const isHeld = consent !== null || (await countHistory(tx, subject)) > 0;
    // The history is read once, and tells which texts follow it.
    const shown = new Set<string>();
    const sections = {
      consent_history: historyOf(tx, subject, shown),
      consent_texts: wordsOf(tx, subject, shown),
    };
    return { ...(isHeld && { consent }), ...(full && { full: sections }) };
  }

  async exportAll(tx: Tx, subjects: readonly Subject[]): Promise<(SubjectExport | undefined)[]> {
    const consents = await findConsents(tx, subjects);
    return consents.map((consent) => (consent === null ? undefined : { consent: exported(consent) }));
  }

  async erase(tx: Tx, subjects: readonly Subject[]): Promise<readonly []> {
    const among = amongSubjects(tx, subjects);
    await Promise.all(
      this.tables.map((table) => tx.run(`DELETE FROM ${table} WHERE ${among.sql}`, ...among.values)),
    );
    return [];
  }
}

/** No consent outlives the declaration that it was given to. */
@Injectable()
@HoldsConsentedData()
export class ConsentCategories extends EndsWithDeclaration implements ConsentedDataHolder {
  async eraseCategory(
    tx: Tx,
    botId: string,
    category: string,
    limit: number,
    _by: Actor,
    after?: Subject,
  ): Promise<ErasedPart> {
    const { consents, ...part } = await consentsNaming(tx, { botId, category, after }, limit);
    const left = consents.map((consent) => withoutDeclaration(consent, category));
    const ended = consents.filter((_, at) => left[at] === null);
    const changed = left.filter((consent) => consent !== null);
    if (changed.length > 0) await putConsents(tx, changed);
    if (ended.length > 0) await removeConsents(tx, ended);
    return part;
  }

  newestTime = newestTime;
}

/** The consent of an export record. */
function exported({ status, version, acceptedAt }: Consent): object {
  return { status, version, acceptedAt };
}

/** The same in the full record, with all that is stored of it: it outlives its history. */
function stored(consent: Consent): object {
  const { id, requestedAt, revokedAt, categories, beforeRequest: replaced } = consent;
  const beside = {
    id: consent.pendingId,
    version: consent.pendingVersion,
    requestedAt: consent.pendingRequestedAt,
    categories: consent.pendingCategories,
  };
  const pending = beside.id === null ? null : beside;
  return { ...exported(consent), id, requestedAt, revokedAt, categories, pending, replaced };
}

/** The words of the texts that were shown, as far as they are known. */
async function* wordsOf(tx: Tx, { botId }: Subject, shown: ReadonlySet<string>): AsyncGenerator<object> {
  for (const digest of shown) {
    const words = await wordsFound(tx, botId, digest);
    if (words !== undefined) yield { digest, ...words };
  }
}
