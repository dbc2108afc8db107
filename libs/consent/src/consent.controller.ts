import { Controller, Get, Post } from '@nestjs/common';
import { ApiBody, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds, SubjectBody, SubjectQuery } from '@app/http';
import { ConsentEvidence } from './consent-evidence.service';
import { ConsentHistoryQuery, ConsentHistoryView } from './consent-history.dto';
import {
  AcceptConsent,
  AcceptedConsentView,
  ConsentQuery,
  ConsentReceiptView,
  ConsentRequestedView,
  ConsentStatusView,
  ConsentView,
  RequestConsent,
  RevokeConsent,
} from './consent.dto';
import { ConsentService } from './consent.service';

@ApiTags('Consent')
@Controller('consents')
export class ConsentController {
  constructor(
    private readonly consents: ConsentService,
    private readonly evidence: ConsentEvidence,
  ) {}

  @Post('request')
  @ApiBody({ type: RequestConsent })
  @Responds(201, ConsentRequestedView, ['not_found', 'payload_too_large', 'unsupported_media_type'])
  request(@CurrentBot() bot: Caller, @SubjectBody() body: RequestConsent): Promise<ConsentRequestedView> {
    return this.consents.request(bot.botId, body);
  }

  @Post('accept')
  @ApiBody({ type: AcceptConsent })
  @Responds(200, AcceptedConsentView, ['not_found', 'payload_too_large', 'unsupported_media_type'])
  accept(@CurrentBot() bot: Caller, @SubjectBody() body: AcceptConsent): Promise<AcceptedConsentView> {
    return this.evidence.accept(bot.botId, body);
  }

  @Post('revoke')
  @ApiBody({ type: RevokeConsent })
  @Responds(200, ConsentView, ['not_found', 'payload_too_large', 'unsupported_media_type'])
  revoke(@CurrentBot() bot: Caller, @SubjectBody() body: RevokeConsent): Promise<ConsentView> {
    return this.consents.revoke(bot.botId, body);
  }

  @Get('status')
  @ApiQuery({ type: ConsentQuery })
  @Responds(200, ConsentStatusView)
  status(@CurrentBot() bot: Caller, @SubjectQuery() query: ConsentQuery): Promise<ConsentStatusView> {
    return this.consents.status({ botId: bot.botId, userId: query.user_id, guildId: query.guild_id });
  }

  @Get('history')
  @ApiQuery({ type: ConsentHistoryQuery })
  @Responds(200, ConsentHistoryView)
  history(
    @CurrentBot() bot: Caller,
    @SubjectQuery() query: ConsentHistoryQuery,
  ): Promise<ConsentHistoryView> {
    const subject = { botId: bot.botId, userId: query.user_id, guildId: query.guild_id };
    return this.evidence.history(subject, query);
  }

  @Get('receipt')
  @ApiQuery({ type: ConsentQuery })
  @Responds(200, ConsentReceiptView, ['not_found'])
  receipt(@CurrentBot() bot: Caller, @SubjectQuery() query: ConsentQuery): Promise<ConsentReceiptView> {
    return this.evidence.receipt({ botId: bot.botId, userId: query.user_id, guildId: query.guild_id });
  }
}
