import { ApiProperty } from '@nestjs/swagger';

export class CertificateView {
  @ApiProperty({ description: 'Compact JWS; the keys that verify it: /.well-known/lethe-keys.json' })
  certificate: string;
}
