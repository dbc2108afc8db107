import { randomBytes } from 'node:crypto';
import { Body, ConflictException, Controller, Injectable, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { RegisterBotDto, RegisterCategoryDto } from './dto';
import { Bot, Category } from './entities';
import { CurrentBot, hashOf, Public } from './http';

@Injectable()
export class BotsService {
  constructor(
    @InjectRepository(Bot) private readonly bots: Repository<Bot>,
    @InjectRepository(Category) private readonly categories: Repository<Category>,
  ) {}

  async register(input: RegisterBotDto) {
    const { platform_bot_id: platformBotId, name, webhook_url: webhookUrl = null } = input;
    if (await this.bots.existsBy({ platformBotId })) throw new ConflictException();
    const key = `sk_live_${randomBytes(32).toString('hex')}`;
    const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
    const bot = { platformBotId, name, webhookUrl, webhookSecret, apiKeyHash: hashOf(key) };
    const { id } = await this.bots.save(bot);
    return { id, platform_bot_id: platformBotId, name, api_key: key, webhook_secret: webhookSecret };
  }

  async registerCategory(botId: string, input: RegisterCategoryDto) {
    const { key, label_de: labelDe, label_en: labelEn, fields } = input;
    if (await this.categories.existsBy({ botId, key })) throw new ConflictException();
    return this.categories.save({ botId, key, labelDe, labelEn, fields, createdAt: new Date() });
  }
}

@Controller()
export class BotsController {
  constructor(private readonly bots: BotsService) {}

  @Public()
  @Post('bots/register')
  register(@Body() body: RegisterBotDto) {
    return this.bots.register(body);
  }

  @Post('data/register')
  registerCategory(@CurrentBot() bot: Bot, @Body() body: RegisterCategoryDto) {
    return this.bots.registerCategory(bot.id, body);
  }
}
