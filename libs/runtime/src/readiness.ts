import { Injectable } from '@nestjs/common';

/** Whether requests should be sent to this process. */
@Injectable()
export class Readiness {
  ready = false;
}
