import { Snowflake, Text, Timestamp, Uuid } from '@app/http';

export class AddReminder {
  @Snowflake() user_id: string;
  @Snowflake() guild_id: string;
  @Text(500) text: string;
  @Timestamp() due_at: string;
}

export class ReminderView {
  @Uuid() id: string;
  @Text(500) text: string;
  @Timestamp() due_at: string;
}
