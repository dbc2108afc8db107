import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds } from '@app/http';
import {
  ConsentTextsListView,
  ConsentTextsQuery,
  ConsentTextView,
  RegisterConsentText,
} from './consent-texts.dto';
import { ConsentTextsService } from './consent-texts.service';

@ApiTags('Consent')
@Controller('consents/texts')
export class ConsentTextsController {
  constructor(private readonly texts: ConsentTextsService) {}

  @Post()
  @Responds(201, ConsentTextView, ['conflict', 'payload_too_large', 'unsupported_media_type'])
  register(@CurrentBot() bot: Caller, @Body() body: RegisterConsentText): Promise<ConsentTextView> {
    return this.texts.register(bot.botId, body);
  }

  @Get()
  @Responds(200, ConsentTextsListView)
  list(@CurrentBot() bot: Caller, @Query() query: ConsentTextsQuery): Promise<ConsentTextsListView> {
    return this.texts.list(bot.botId, query);
  }
}
