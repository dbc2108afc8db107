import { Controller, Get, Param } from '@nestjs/common';
import { Caller, CurrentBot, Describes, EXAMPLE, Responds, Topic } from '@app/http';
import { CertificateView } from './certificate.dto';
import { EXAMPLES } from './certificate.examples';
import { CertificateService } from './certificate.service';
import { DeletionPath } from './erasure.dto';

@Topic('Export and erasure')
@Controller('gdpr')
export class CertificateController {
  constructor(private readonly certificates: CertificateService) {}

  @Get('forget-status/:id/certificate')
  @Describes({
    summary: 'Read the signed certificate of an erasure',
    description:
      'Answers a signed statement that the erasure took place, which can be verified without the ' +
      'service (GDPR Art. 5(2)). It names the user only to those who know the ids and the ' +
      '`certificate_salt` of the answer to `forget-user`. A repeat answers the same text. Before the ' +
      'erasure is completed the answer is 409 `deletion_not_completed`.',
    parameters: { id: EXAMPLE.request_id },
    examples: EXAMPLES.certificate,
  })
  @Responds(200, CertificateView, ['not_found', 'deletion_not_completed', 'no_certificate'])
  certificate(@CurrentBot() bot: Caller, @Param() { id }: DeletionPath): Promise<CertificateView> {
    return this.certificates.of(bot.botId, id);
  }
}
