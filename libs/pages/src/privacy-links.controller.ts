import { Body, Controller, Delete, Param, Post } from '@nestjs/common';
import {
  Caller,
  CurrentBot,
  Describes,
  EvenWhile,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  IdPath,
  RequiresScope,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { NewPrivacyLink, PrivacyLinkDeletedView, PrivacyLinkView } from './privacy-links.dto';
import { PrivacyLinks } from './privacy-links.service';

@Topic(
  'Privacy links',
  'Links to a page on which a user sees what is stored, decides, exports and erases it.',
)
@Controller('privacy-links')
export class PrivacyLinksController {
  constructor(private readonly links: PrivacyLinks) {}

  @Post()
  @RequiresScope('read', 'write', 'erase')
  @EvenWhile('suspended')
  @Describes({
    summary: 'Make a link to the privacy page of a user',
    description:
      'Answers a link to the privacy page: the user sees the stored data, gives and withdraws consent, corrects ' +
      'values of editable fields, downloads an export and erases the data. Give it to this user alone: anyone who has it sees the ' +
      'page. It ends at `expires_at`, with the API key that made it, with an erasure of the user, and when ' +
      'it is deleted. The key needs the scopes of what the page offers: `read` for `view` and `export`, `write` ' +
      'for `consent` and `correct`, `erase` for `forget`; without `allow` the page offers what the key may do. A user has at most ten links; an eleventh ends the oldest.',
    examples: { body: { ...EXAMPLE_SUBJECT, language: 'de', expires_in: 900 } },
  })
  @Responds(201, PrivacyLinkView, ['limit_reached'])
  create(
    @CurrentBot() bot: Caller,
    @Body() body: NewPrivacyLink,
    @Claimed('key') claim: Claim,
  ): Promise<PrivacyLinkView> {
    return this.links.create(bot, body, claim);
  }

  @Delete(':id')
  @RequiresScope('read', 'write', 'erase', 'admin')
  @EvenWhile('suspended')
  @Describes({
    summary: 'End a privacy link',
    description:
      'From this answer on the link opens no page. A repeat is answered with 404. It takes the key that made the ' +
      'link, or one of scope `admin`.',
    parameters: { id: EXAMPLE.link_id },
  })
  @Responds(200, PrivacyLinkDeletedView, ['not_found'])
  remove(@CurrentBot() bot: Caller, @Param() { id }: IdPath): Promise<PrivacyLinkDeletedView> {
    return this.links.removeFor(bot, id);
  }
}
