import { Injectable } from '@nestjs/common';
import { SubjectDigests } from '@app/crypto';
import { UnitOfWork } from '@app/database';
import type { Claim } from '@app/idempotency';
import { type Submission, SubmitAct } from './submit.act';
import type { SubmitData, SubmittedView } from './user-data.dto';

/** Stores what users have consented to. */
@Injectable()
export class UserDataService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly act: SubmitAct,
    private readonly digests: SubjectDigests,
  ) {}

  /**
   * Stores or updates one category of a subject. The consent is checked in the same unit: data that is answered with 200
   * was stored under a consent in force at its commit.
   * @throws ApiError 413, then 403, 404, 400, in the order of the contract.
   */
  async submit(botId: string, input: SubmitData, claim: Claim): Promise<SubmittedView> {
    return this.unitOfWork.share(this.act, this.submission(botId, input, claim));
  }

  /** What {@link submit} stores. @throws ApiError 413 */
  submission(botId: string, input: SubmitData, claim: Claim): Submission {
    const { category, data, mode } = input;
    const json = this.act.storable(data);
    const subject = this.digests.named(botId, input);
    return { subject, category, data, json, merges: mode === 'merge', claim };
  }
}
