import { Module } from '@nestjs/common';
import { AuditModule } from '@app/audit';
import { CryptoModule } from '@app/crypto';
import { DatabaseModule } from '@app/database';
import { Reminders1763700000001 } from './1763700000001-reminders';
import { Reminder } from './reminder.entity';
import { RemindersController } from './reminders.controller';
import { RemindersHolder } from './reminders.holder';
import { RemindersService } from './reminders.service';

@Module({
  imports: [DatabaseModule.forFeature([Reminder], [Reminders1763700000001]), AuditModule, CryptoModule],
  controllers: [RemindersController],
  providers: [RemindersService, RemindersHolder],
})
export class RemindersModule {}
