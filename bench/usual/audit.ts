import { Controller, Get, Injectable, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { AuditQuery } from './dto';
import { AuditEvent, type Bot } from './entities';
import { CurrentBot } from './http';

interface Subject {
  botId: string;
  guildId: string;
  userId: string;
}

@Injectable()
export class AuditService {
  constructor(@InjectRepository(AuditEvent) private readonly events: Repository<AuditEvent>) {}

  async record(
    manager: EntityManager,
    { botId, guildId, userId }: Subject,
    eventType: string,
    details: Record<string, string>,
  ) {
    const event = { botId, guildId, userId, eventType, source: 'service', details, createdAt: new Date() };
    await manager.insert(AuditEvent, event);
  }

  async list(botId: string, { user_id, guild_id, event_type, page, page_size }: AuditQuery) {
    const [events, total] = await this.events.findAndCount({
      where: {
        botId,
        ...(user_id && { userId: user_id }),
        ...(guild_id && { guildId: guild_id }),
        ...(event_type && { eventType: event_type }),
      },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip: (page - 1) * page_size,
      take: page_size,
    });
    return {
      events: events.map((event) => ({
        id: event.id,
        guild_id: event.guildId,
        user_id: event.userId,
        event_type: event.eventType,
        source: event.source,
        details: event.details,
        created_at: event.createdAt,
      })),
      pagination: { page, page_size, total_count: total, total_pages: Math.ceil(total / page_size) },
    };
  }
}

@Controller('audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('events')
  list(@CurrentBot() bot: Bot, @Query() query: AuditQuery) {
    return this.audit.list(bot.id, query);
  }
}
