import { Caller, CurrentBot, Describes, RequiresScope, Responds, Topic } from '@app/http';
import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { BotPath, ownBot } from './bots.dto';
import { ChangeNoticeSettings, NoticeSettingsView } from './notice-settings.dto';
import { NoticeSettingsService } from './notice-settings.service';

const GIVEN = {
  public: true,
  controller_name: 'Robin Example',
  controller_address: 'Example Street 1, 10115 Berlin',
  controller_email: 'robin@example.org',
  recipients: [
    {
      name: 'Example Hosting GmbH',
      purpose_de: 'Betreibt den Server dieses Dienstes',
      purpose_en: 'Runs the server of this service',
      country: 'DE',
    },
  ],
  automated_decisions: 'none',
  authority_name: 'Berliner Beauftragte für Datenschutz und Informationsfreiheit',
  authority_url: 'https://www.datenschutz-berlin.de',
};

@Topic('Bots')
@Controller('bots/:bot_id/notice-settings')
export class NoticeSettingsController {
  constructor(private readonly settings: NoticeSettingsService) {}

  @Get()
  @RequiresScope('read', 'admin')
  @Describes({
    summary: 'Read what the privacy notice says about the bot',
    description:
      'Answers what the bot has set of its controller, its data protection officer, recipients and the other ' +
      'facts of GDPR Art. 13, with the latest changes. What is not set is not in the answer. `countries` has the ' +
      'names of the countries of the recipients, `page_url` the address of the public notice, and ' +
      '`data_after_withdrawal` the days after which a withdrawal erases.',
  })
  @Responds(200, NoticeSettingsView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() path: BotPath): Promise<NoticeSettingsView> {
    return this.settings.view(ownBot(bot, path));
  }

  @Put()
  @RequiresScope('admin')
  @Describes({
    summary: 'Set what the privacy notice says about the bot; null clears',
    description:
      'Changes the settings that the body names and leaves the others as they are. They are shown to ' +
      'users on the privacy page and in the copy to read, in the record of processing activities, and with `public` ' +
      'to everybody on the page `/notice/{bot_id}`. A repeat has the same result.',
    examples: { body: GIVEN },
  })
  @Responds(200, NoticeSettingsView, ['not_found'])
  change(
    @CurrentBot() bot: Caller,
    @Param() path: BotPath,
    @Body() body: ChangeNoticeSettings,
  ): Promise<NoticeSettingsView> {
    return this.settings.change(ownBot(bot, path), body);
  }
}
