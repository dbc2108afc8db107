import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds } from '@app/http';
import { CertificateView } from './certificate.dto';
import { CertificateService } from './certificate.service';
import { DeletionPath } from './erasure.dto';

@ApiTags('Export and erasure')
@Controller('gdpr')
export class CertificateController {
  constructor(private readonly certificates: CertificateService) {}

  @Get('forget-status/:id/certificate')
  @Responds(200, CertificateView, ['not_found', 'conflict'])
  certificate(@CurrentBot() bot: Caller, @Param() { id }: DeletionPath): Promise<CertificateView> {
    return this.certificates.of(bot.botId, id);
  }
}
