import {
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  RequiresScope,
  Responds,
  Topic,
  WhileSuspended,
} from '@app/http';
import { Claim, Claimed } from '@app/idempotency';
import { Body, Controller, Delete, Param, Post } from '@nestjs/common';
import {
  NewPrivacyLink,
  PrivacyLinkDeletedView,
  PrivacyLinkPath,
  PrivacyLinkView,
} from './privacy-links.dto';
import { EXAMPLES } from './privacy-links.examples';
import { PrivacyLinks } from './privacy-links.service';

@Topic(
  'Privacy links',
  'Links to a page on which a user sees what is stored, decides, exports and erases it.',
)
@Controller('privacy-links')
export class PrivacyLinksController {
  constructor(private readonly links: PrivacyLinks) {}

  @Post()
  @RequiresScope('admin')
  @WhileSuspended()
  @Describes({
    summary: 'Make a link to the privacy page of a user',
    description:
      'Answers a link to a page on which the user sees what is stored, gives and withdraws consent, ' +
      'downloads an export and has the data erased. Give it to this user alone: anyone who has it sees the ' +
      'page. It ends at `expires_at`, with the API key that made it, with an erasure of the user, and when ' +
      'it is deleted. A user has at most ten links; an eleventh ends the oldest.',
    examples: EXAMPLES.create,
  })
  @Responds(201, PrivacyLinkView, ['limit_reached'])
  create(
    @CurrentBot() bot: Caller,
    @Body() body: NewPrivacyLink,
    @Claimed() claim: Claim,
  ): Promise<PrivacyLinkView> {
    return this.links.create(bot, body, claim);
  }

  @Delete(':id')
  @RequiresScope('admin')
  @WhileSuspended()
  @Describes({
    summary: 'End a privacy link',
    description: 'From this answer on the link opens no page. A repeat is answered with 404.',
    parameters: { id: EXAMPLE.link_id },
    examples: EXAMPLES.remove,
  })
  @Responds(200, PrivacyLinkDeletedView, ['not_found'])
  remove(@CurrentBot() { botId }: Caller, @Param() { id }: PrivacyLinkPath): Promise<PrivacyLinkDeletedView> {
    return this.links.remove(botId, id);
  }
}
