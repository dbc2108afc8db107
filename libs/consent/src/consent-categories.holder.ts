import { Injectable } from '@nestjs/common';
import type { Tx } from '@app/database';
import { type ConsentedDataHolder, HoldsConsentedData } from '@app/subjects';
import { withoutDeclaration } from './consent-changes';
import { consentsNaming, putConsents } from './consent.sql';

/** No consent outlives the declaration that it was given to. */
@Injectable()
@HoldsConsentedData()
export class ConsentCategories implements ConsentedDataHolder {
  async eraseCategory(tx: Tx, botId: string, category: string, limit: number): Promise<number> {
    const consents = await consentsNaming(tx, botId, category, limit);
    await putConsents(
      tx,
      consents.map((consent) => withoutDeclaration(consent, category)),
    );
    return consents.length;
  }
}
