import { Body, Controller, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds } from '@app/http';
import { AddReminder, ReminderView } from './reminders.dto';
import { RemindersService } from './reminders.service';

@ApiTags('Reminders')
@Controller('reminders')
export class RemindersController {
  constructor(private readonly reminders: RemindersService) {}

  @Post()
  @ApiOperation({ summary: 'Add a reminder' })
  @Responds(201, ReminderView, ['consent_required', 'payload_too_large', 'unsupported_media_type'])
  add(@CurrentBot() bot: Caller, @Body() body: AddReminder): Promise<ReminderView> {
    return this.reminders.add(bot.botId, body);
  }
}
