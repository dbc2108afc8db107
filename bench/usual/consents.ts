import { Body, Controller, Get, HttpCode, Injectable, NotFoundException, Post, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { AuditService } from './audit';
import { ConsentDto, SubjectDto } from './dto';
import { type Bot, Consent, isPostgres } from './entities';
import { CurrentBot } from './http';
import { OutboxService } from './outbox';
import { Transactions } from './transactions';

@Injectable()
export class ConsentsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly outbox: OutboxService,
    @InjectRepository(Consent) private readonly consents: Repository<Consent>,
  ) {}

  request(bot: Bot, input: ConsentDto) {
    return this.transactions.run(async (manager) => {
      const subject = { botId: bot.id, guildId: input.guild_id, userId: input.user_id };
      const found = await this.locked(manager, bot, input);
      const consent = found ?? manager.create(Consent, subject);
      consent.status = 'pending';
      consent.version = input.consent_version;
      consent.requestedAt = new Date();
      consent.acceptedAt = consent.revokedAt = null;
      await manager.save(consent);
      await this.audit.record(manager, subject, 'consent_requested', { version: consent.version });
      const { id, status, version, requestedAt } = consent;
      return { id, status, version, requested_at: requestedAt };
    });
  }

  accept(bot: Bot, input: ConsentDto) {
    return this.transactions.run(async (manager) => {
      const consent = await this.locked(manager, bot, input);
      if (consent?.status !== 'pending' || consent.version !== input.consent_version)
        throw new NotFoundException();
      consent.status = 'accepted';
      consent.acceptedAt = new Date();
      await manager.save(consent);
      await this.audit.record(manager, consent, 'consent_accepted', { version: consent.version });
      return view(consent);
    });
  }

  revoke(bot: Bot, input: SubjectDto) {
    return this.transactions.run(async (manager) => {
      const consent = await this.locked(manager, bot, input);
      if (consent?.status !== 'accepted') throw new NotFoundException();
      consent.status = 'revoked';
      consent.revokedAt = new Date();
      await manager.save(consent);
      await this.audit.record(manager, consent, 'consent_revoked', { version: consent.version });
      await this.outbox.queue(manager, bot, {
        event: 'consent_revoked',
        user_id: consent.userId,
        guild_id: consent.guildId,
        revoked_at: consent.revokedAt,
        previous_version: consent.version,
      });
      return view(consent);
    });
  }

  async status(bot: Bot, { user_id, guild_id }: SubjectDto) {
    const consent = await this.consents.findOneBy({ botId: bot.id, guildId: guild_id, userId: user_id });
    return {
      status: consent?.status ?? 'none',
      version: consent?.version ?? null,
      user_id,
      guild_id,
      accepted_at: consent?.acceptedAt ?? null,
      revoked_at: consent?.revokedAt ?? null,
    };
  }

  private locked(manager: EntityManager, bot: Bot, { guild_id: guildId, user_id: userId }: SubjectDto) {
    return manager.findOne(Consent, {
      where: { botId: bot.id, guildId, userId },
      ...(isPostgres && { lock: { mode: 'pessimistic_write' } }),
    });
  }
}

function view({ id, status, version, userId, guildId, requestedAt, acceptedAt, revokedAt }: Consent) {
  return {
    id,
    status,
    version,
    user_id: userId,
    guild_id: guildId,
    requested_at: requestedAt,
    accepted_at: acceptedAt,
    revoked_at: revokedAt,
  };
}

@Controller('consents')
export class ConsentsController {
  constructor(private readonly consents: ConsentsService) {}

  @Post('request')
  request(@CurrentBot() bot: Bot, @Body() body: ConsentDto) {
    return this.consents.request(bot, body);
  }

  @Post('accept')
  @HttpCode(200)
  accept(@CurrentBot() bot: Bot, @Body() body: ConsentDto) {
    return this.consents.accept(bot, body);
  }

  @Post('revoke')
  @HttpCode(200)
  revoke(@CurrentBot() bot: Bot, @Body() body: SubjectDto) {
    return this.consents.revoke(bot, body);
  }

  @Get('status')
  status(@CurrentBot() bot: Bot, @Query() query: SubjectDto) {
    return this.consents.status(bot, query);
  }
}
