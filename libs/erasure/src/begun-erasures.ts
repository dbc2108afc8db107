import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { type ClaimName, EncryptedForms, type Form, type Found } from '@app/idempotency';
import type { DeletionRequest } from './deletion-request.entity';
import { findRequest } from './deletion-requests.sql';

/** An erasure that is on record, and the salt of its certificate. */
export interface BegunErasure {
  readonly request: DeletionRequest;
  readonly certificateSalt: string;
}

/** The erasures of one request, as far as they have begun. */
export interface BegunErasures {
  readonly begun: readonly BegunErasure[];
  /** Whether no further one follows. */
  readonly isWhole: boolean;
}

type Stored = Omit<BegunErasures, 'begun'> & { readonly begun: readonly (readonly [string, string])[] };

/**
 * How begun erasures are stored for a repeat of their request: by their ids, with the salts, encrypted. A failed erasure
 * is begun again.
 */
@Injectable()
export class BegunErasuresForm implements Form<BegunErasures> {
  private readonly encrypted: Form<Stored>;

  constructor(forms: EncryptedForms) {
    this.encrypted = forms.ofInstallation();
  }

  write({ begun, isWhole }: BegunErasures, claim: ClaimName, tx: Tx): string | Promise<string> {
    const named = begun.map(({ request, certificateSalt }) => [request.id, certificateSalt] as const);
    return this.encrypted.write({ begun: named, isWhole }, claim, tx);
  }

  isPartial({ isWhole }: BegunErasures): boolean {
    return !isWhole;
  }

  async read(found: Found): Promise<BegunErasures | undefined> {
    const stored = await this.encrypted.read(found);
    const { claim, tx } = found;
    const begun: BegunErasure[] = [];
    for (const [id, certificateSalt] of stored?.begun ?? []) {
      const request = await findRequest(tx, { botId: claim.botId, id });
      if (request !== null && request.status !== 'failed') begun.push({ request, certificateSalt });
    }
    const isWhole = stored?.isWhole === true && begun.length === stored.begun.length;
    return isWhole || begun.length > 0 ? { begun, isWhole } : undefined;
  }
}
