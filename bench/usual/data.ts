import {
  BadRequestException,
  Body,
  Controller,
  ForbiddenException,
  Get,
  HttpCode,
  Injectable,
  NotFoundException,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { AuditService } from './audit';
import { GuildQuery, SubmitDto } from './dto';
import { type Bot, Category, Consent, type DataField, isPostgres, UserData } from './entities';
import { CurrentBot } from './http';
import { Transactions } from './transactions';

const FITS: Record<DataField['type'], (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  json: () => true,
};

@Injectable()
export class DataService {
  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  submit(bot: Bot, input: SubmitDto) {
    const subject = { botId: bot.id, guildId: input.guild_id, userId: input.user_id };
    return this.transactions.run(async (manager) => {
      const consent = await manager.findOne(Consent, {
        where: subject,
        ...(isPostgres && { lock: { mode: 'pessimistic_read' } }),
      });
      if (consent?.status !== 'accepted') throw new ForbiddenException();
      const category = await manager.findOneBy(Category, { botId: bot.id, key: input.category });
      if (category === null) throw new NotFoundException();
      const types = new Map(category.fields.map(({ key, type }) => [key, type]));
      for (const [key, value] of Object.entries(input.data)) {
        const type = types.get(key);
        if (type === undefined || !FITS[type](value)) throw new BadRequestException(key);
      }
      const updatedAt = new Date();
      const row = { ...subject, categoryKey: category.key, value: input.data, updatedAt };
      await manager.upsert(UserData, row as never, ['botId', 'guildId', 'userId', 'categoryKey']);
      await this.audit.record(manager, subject, 'data_submitted', { category: category.key });
      const { user_id, guild_id } = input;
      return { user_id, guild_id, category: category.key, stored: true, updated_at: updatedAt };
    });
  }

  export(bot: Bot, userId: string, guildId: string) {
    const subject = { botId: bot.id, guildId, userId };
    return this.transactions.run(async (manager) => {
      const consent = await manager.findOneBy(Consent, subject);
      const rows = await manager.findBy(UserData, subject);
      if (consent === null && rows.length === 0) throw new NotFoundException();
      await this.audit.record(manager, subject, 'data_exported', { format: 'record' });
      return {
        userId,
        guildId,
        exportedAt: new Date(),
        bot: { id: bot.id, name: bot.name },
        consent: consent && {
          status: consent.status,
          version: consent.version,
          acceptedAt: consent.acceptedAt,
        },
        data: Object.fromEntries(rows.map(({ categoryKey, value }) => [categoryKey, value])),
      };
    });
  }
}

@Controller('data')
export class DataController {
  constructor(private readonly data: DataService) {}

  @Post('submit')
  @HttpCode(200)
  submit(@CurrentBot() bot: Bot, @Body() body: SubmitDto) {
    return this.data.submit(bot, body);
  }

  @Get('export/:user_id')
  export(@CurrentBot() bot: Bot, @Param('user_id') userId: string, @Query() { guild_id }: GuildQuery) {
    return this.data.export(bot, userId, guild_id);
  }
}
