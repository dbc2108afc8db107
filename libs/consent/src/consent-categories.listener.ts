import { Injectable } from '@nestjs/common';
import { CategoryDeleted } from '@app/categories';
import { OnDomainEvent } from '@app/kernel';
import { withoutDeclaration } from './consent-changes';
import { consentsNaming, putConsent } from './consent.sql';

/** No consent outlives the declaration that it was given to. */
@Injectable()
export class ConsentCategoriesListener {
  @OnDomainEvent(CategoryDeleted)
  async forgetCategory(event: CategoryDeleted): Promise<void> {
    const { tx, botId, key, batch } = event;
    const consents = await consentsNaming(tx, botId, key, batch);
    for (const consent of consents) await putConsent(tx, withoutDeclaration(consent, key));
    event.removed(consents.length);
  }
}
