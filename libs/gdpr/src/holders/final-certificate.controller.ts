import { Controller, Get, Param } from '@nestjs/common';
import { Caller, CurrentBot, Describes, EXAMPLE, IdPath, Responds, Topic } from '@app/http';
import { CertificateView } from '../erasure/erasure.dto';
import { FinalCertificates } from './final-certificate.service';

@Topic('Export and erasure')
@Controller('gdpr')
export class FinalCertificateController {
  constructor(private readonly certificates: FinalCertificates) {}

  @Get('forget-status/:id/final-certificate')
  @Describes({
    summary: 'Read the signed final certificate of an erasure',
    description:
      'Answers a signed statement about the erasure in Lethe and in every holder of the bot, once each has answered `erased`, ' +
      '`nothing` or `kept` (GDPR Art. 5(2) and 19). It contains the certificate of the erasure and each answer. The signature of Lethe ' +
      'proves that the answers were received; the `statement` of a holder with a `public_key` is signed by the holder itself. ' +
      'It is signed at each call, since `erased` can follow `kept`; the one with the latest `issued_at` has priority.',
    parameters: { id: EXAMPLE.request_id },
  })
  @Responds(200, CertificateView, [
    'not_found',
    'deletion_not_completed',
    'no_certificate',
    'no_holders',
    'coverage_incomplete',
  ])
  read(@CurrentBot() bot: Caller, @Param() { id }: IdPath): Promise<CertificateView> {
    return this.certificates.certificate(bot.botId, id);
  }
}
