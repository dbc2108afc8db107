import { Injectable } from '@nestjs/common';
import { Page } from '@app/common';
import { type Subject, UnitOfWork } from '@app/database';
import { countHistory, historyPage } from './consent-history';
import type { ConsentHistoryQuery, ConsentHistoryView } from './consent-history.dto';
import { historyEntryView } from './consent.views';

/** What proves a consent (GDPR Art. 7(1)): its history, which is only ever added to. */
@Injectable()
export class ConsentEvidence {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** One page of what a user was shown and has decided, newest first. */
  history(subject: Subject, query: ConsentHistoryQuery): Promise<ConsentHistoryView> {
    const page = new Page(query);
    return this.unitOfWork.read(async (tx) => {
      const total = await countHistory(tx, subject);
      const entries = await historyPage(tx, subject, page.size, page.offset);
      return { entries: entries.map(historyEntryView), pagination: page.of(total) };
    });
  }
}
