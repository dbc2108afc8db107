import { Controller, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentBot, Responds, SubjectBody } from '@app/http';
import { SubmitData, SubmittedView } from './user-data.dto';
import { UserDataService } from './user-data.service';

@ApiTags('User data')
@Controller('data')
export class UserDataController {
  constructor(private readonly userData: UserDataService) {}

  @Post('submit')
  @ApiBody({ type: SubmitData })
  @Responds(200, SubmittedView, [
    'consent_required',
    'not_found',
    'payload_too_large',
    'unsupported_media_type',
  ])
  submit(@CurrentBot() bot: Caller, @SubjectBody() body: SubmitData): Promise<SubmittedView> {
    return this.userData.submit(bot.botId, body);
  }
}
