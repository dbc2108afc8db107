import { Body, ConflictException, Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { AuditService } from './audit';
import { SubjectDto } from './dto';
import { AuditEvent, type Bot, Consent, DeletionRequest, UserData } from './entities';
import { CurrentBot } from './http';
import { OutboxService } from './outbox';
import { Transactions } from './transactions';

@Injectable()
export class GdprService {
  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly outbox: OutboxService,
  ) {}

  forget(bot: Bot, { guild_id: guildId, user_id: userId }: SubjectDto) {
    const subject = { botId: bot.id, guildId, userId };
    return this.transactions.run(async (manager) => {
      if (await manager.existsBy(DeletionRequest, { botId: bot.id, userId, status: 'processing' }))
        throw new ConflictException();
      const request = manager.create(DeletionRequest, {
        ...subject,
        status: 'processing',
        webhookSent: false,
        createdAt: new Date(),
      });
      await manager.save(request);
      await this.audit.record(manager, subject, 'deletion_requested', { request_id: request.id });
      const rows = await manager.findBy(UserData, subject);
      await manager.delete(UserData, subject);
      await manager.delete(Consent, subject);
      await manager.update(AuditEvent, subject, { details: null });
      request.status = 'completed';
      request.deletedCategories = rows.map((row) => row.categoryKey);
      request.completedAt = new Date();
      await manager.save(request);
      await this.audit.record(manager, subject, 'deletion_completed', { request_id: request.id });
      await this.outbox.queue(
        manager,
        bot,
        {
          event: 'user_forgotten',
          request_id: request.id,
          user_id: userId,
          guild_id: guildId,
          completed_at: request.completedAt,
        },
        request.id,
      );
      return {
        request_id: request.id,
        status: request.status,
        deleted_categories: request.deletedCategories,
        completed_at: request.completedAt,
        notice: 'Only data stored through this service was erased.',
      };
    });
  }
}

@Controller('gdpr')
export class GdprController {
  constructor(private readonly gdpr: GdprService) {}

  @Post('forget-user')
  @HttpCode(200)
  forget(@CurrentBot() bot: Bot, @Body() body: SubjectDto) {
    return this.gdpr.forget(bot, body);
  }
}
