import { Body, Controller, Post } from '@nestjs/common';
import { Caller, CurrentBot, Describes, Responds, Topic } from '@app/http';
import { Claim, Claimed } from '@app/acts';
import { AddReminder, ReminderView } from './reminders.dto';
import { EXAMPLES } from './reminders.examples';
import { RemindersService } from './reminders.service';

@Topic('Reminders', 'What users want to be reminded of.')
@Controller('reminders')
export class RemindersController {
  constructor(private readonly reminders: RemindersService) {}

  @Post()
  @Describes({
    summary: 'Add a reminder',
    description:
      'Stores a reminder, encrypted, of a user who has consented to the category `reminders`. It is ' +
      'exported and erased with everything else of the user. A repeat adds a further reminder.',
    examples: EXAMPLES.add,
  })
  @Responds(201, ReminderView, ['consent_required', 'not_found'])
  add(@CurrentBot() bot: Caller, @Body() body: AddReminder, @Claimed() claim: Claim): Promise<ReminderView> {
    return this.reminders.add(bot.botId, body, claim);
  }
}
