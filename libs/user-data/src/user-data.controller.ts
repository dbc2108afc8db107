import { Controller, Post } from '@nestjs/common';
import { Caller, CurrentBot, EitherShape, Describes, Responds, SubjectBody, Topic } from '@app/http';
import { Claim, Claimed } from '@app/idempotency';
import { SubmitData, SubmittedView } from './user-data.dto';
import { EXAMPLES } from './user-data.examples';
import { UserDataService } from './user-data.service';

@Topic('User data', 'Values of users, stored by category under a consent.')
@Controller('data')
export class UserDataController {
  constructor(private readonly userData: UserDataService) {}

  @Post('submit')
  @EitherShape(SubmitData, 'guild_id')
  @Describes({
    summary: 'Store data of a user who has consented',
    description:
      'Stores the values of one category of one user, encrypted with a key of that user. The consent ' +
      'is checked in the same transaction: without one the answer is 403 and nothing is stored. `data` ' +
      'replaces what was stored under the category; with `mode` `merge` only the named fields change ' +
      '(RFC 7396), and `null` removes a field. A repeat has the same result and is recorded as a ' +
      'further audit event.',
    examples: EXAMPLES.submit,
  })
  @Responds(200, SubmittedView, ['consent_required', 'not_found'])
  submit(
    @CurrentBot() bot: Caller,
    @SubjectBody() body: SubmitData,
    @Claimed() claim: Claim,
  ): Promise<SubmittedView> {
    return this.userData.submit(bot.botId, body, claim);
  }
}
