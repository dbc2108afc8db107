import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { Caller, CurrentBot, Describes, EXAMPLE, type ListPage, Responds, Topic } from '@app/http';
import { Claim, Claimed } from '@app/acts';
import {
  ConsentTextsListView,
  ConsentTextsQuery,
  ConsentTextView,
  ConsentWordsView,
  FurtherConsentText,
  RegisterConsentText,
  TextDigestPath,
} from './consent-texts.dto';
import { ConsentTextsService } from './consent-texts.service';

const OF_VERSION = { consent_version: EXAMPLE.consent_version, language: 'en' };
const WORDS = {
  title: 'May we keep your profile?',
  body: 'We keep the nickname that you choose, to greet you by it. You can withdraw your consent at any time.',
  categories: [{ key: EXAMPLE.category, label: 'Profile', text: 'Your nickname.' }],
  accept_label: 'Yes',
  decline_label: 'No',
  privacy_notice: 'https://bot.example.org/privacy',
  withdrawal_method: 'Type /privacy revoke',
};
@Topic('Consent')
@Controller('consents/texts')
export class ConsentTextsController {
  constructor(private readonly texts: ConsentTextsService) {}

  @Post()
  @Describes({
    summary: 'Register the text of a version in one language',
    description:
      'Stores the words that users are shown for a version, so that the history of a consent can prove ' +
      'them by their digest (GDPR Art. 7(1)). The same text again is answered with the same record. ' +
      'Other words for the same version and language are refused with 409 `text_exists`: register a ' +
      'new version. `texts` registers further languages with it, all or none.',
    examples: { body: { ...OF_VERSION, ...WORDS } },
  })
  @ApiExtraModels(FurtherConsentText)
  @Responds(201, ConsentTextView, ['text_exists', 'too_many_languages', 'limit_reached'])
  register(
    @CurrentBot() bot: Caller,
    @Body() body: RegisterConsentText,
    @Claimed() claim: Claim,
  ): Promise<ConsentTextView> {
    return this.texts.register(bot.botId, body, claim);
  }

  @Get()
  @Describes({
    summary: 'List the registered texts, by version and language',
    description:
      'Answers one page of the registered texts with their digests, ordered by version and language.',
  })
  @Responds(200, ConsentTextsListView)
  list(@CurrentBot() bot: Caller, @Query() query: ConsentTextsQuery): Promise<ListPage> {
    return this.texts.list(bot.botId, query);
  }

  @Get(':digest')
  @Describes({
    summary: 'Read the words that a user was shown',
    description:
      'Answers the text with this digest, which the history of a consent names (GDPR Art. 7(1)): a registered one, ' +
      'or one that the service has made of categories. The digest is that of the other fields of the answer.',
  })
  @Responds(200, ConsentWordsView, ['not_found'])
  words(@CurrentBot() bot: Caller, @Param() { digest }: TextDigestPath): Promise<ConsentWordsView> {
    return this.texts.words(bot.botId, digest);
  }
}
