import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { SubjectDigests } from '@app/crypto';
import {
  Caller,
  CurrentBot,
  Describes,
  EXAMPLE,
  EXAMPLE_SUBJECT,
  examplePage,
  type Examples,
  type JsonStream,
  type JsonText,
  type ListPage,
  RequiresScope,
  Responds,
  SubjectQuery,
  Topic,
} from '@app/http';
import {
  EraseValuesQuery,
  GuildValuesQuery,
  GuildValuesView,
  ValuesErasedView,
  ValuesPath,
  ValuesQuery,
  ValuesView,
} from './user-data.dto';
import { UserValues } from './user-values.service';

const OF_GUILD = { guild_id: EXAMPLE.guild_id, category: EXAMPLE.category };
const OF_USER = { ...EXAMPLE_SUBJECT, category: EXAMPLE.category };
const PROFILE = { nickname: 'Robin', birthday: '2000-02-29' };

const EXAMPLES = {
  ofUser: {
    canonical: {
      answer: {
        ...EXAMPLE_SUBJECT,
        values: { [EXAMPLE.category]: PROFILE },
        updated_at: { [EXAMPLE.category]: EXAMPLE.time },
      },
    },
  },
  ofGuild: {
    canonical: {
      answer: {
        values: [{ user_id: EXAMPLE.user_id, data: PROFILE, updated_at: EXAMPLE.time }],
        pagination: examplePage(1),
      },
    },
  },
  erase: { canonical: { answer: { deleted: true } } },
} satisfies Readonly<Record<string, Examples>>;

@Topic('User data')
@Controller('data/values')
export class UserValuesController {
  constructor(
    private readonly values: UserValues,
    private readonly digests: SubjectDigests,
  ) {}

  @Get()
  @ApiQuery({ type: GuildValuesQuery })
  @Describes({
    summary: 'Read one category of all users of a guild',
    description:
      'Answers one page of what is stored under the category, in a fixed order, of the users whose ' +
      'consent in force covers it: each once. A bot that looks for today’s birthdays needs no second copy. It ' +
      'writes no audit event. A value that cannot be decrypted has `data` null and `unreadable` true.',
    parameters: OF_GUILD,
    examples: EXAMPLES.ofGuild,
  })
  @Responds(200, GuildValuesView, ['not_found'])
  ofGuild(@CurrentBot() bot: Caller, @SubjectQuery() query: GuildValuesQuery): Promise<ListPage> {
    return this.values.ofGuild(bot.botId, query);
  }

  @Get(':user_id')
  @ApiQuery({ type: ValuesQuery })
  @Describes({
    summary: 'Read what is stored about a user',
    description:
      'Answers the stored values by category, for the processing of the bot itself: of all categories that the ' +
      'consent in force covers, or of one. Without such a consent the answer is 403. It writes no audit event; ' +
      'to answer a user (GDPR Art. 15) use the export.',
    parameters: OF_USER,
    examples: EXAMPLES.ofUser,
  })
  @Responds(200, ValuesView, ['consent_required', 'not_found'])
  ofUser(
    @CurrentBot() bot: Caller,
    @Param() { user_id }: ValuesPath,
    @SubjectQuery() { guild_id, category }: ValuesQuery,
  ): Promise<JsonText | JsonStream> {
    return this.values.ofUser(this.digests.named(bot.botId, { user_id, guild_id }), category);
  }

  @Delete(':user_id')
  @RequiresScope('erase')
  @ApiQuery({ type: EraseValuesQuery })
  @Describes({
    summary: 'Erase one category of a user',
    description:
      'Erases what is stored about the user under the category, whether the consent is in force or not, and ' +
      'records `data_deleted`. The consent stays: a later submit stores again. A repeat is answered with ' +
      '`deleted` false. To erase everything about a user (GDPR Art. 17) use `POST /gdpr/forget-user`.',
    parameters: OF_USER,
    examples: EXAMPLES.erase,
  })
  @Responds(200, ValuesErasedView, ['not_found'])
  async erase(
    @CurrentBot() bot: Caller,
    @Param() { user_id }: ValuesPath,
    @SubjectQuery() { guild_id, category }: EraseValuesQuery,
  ): Promise<ValuesErasedView> {
    const subject = this.digests.named(bot.botId, { user_id, guild_id });
    return { deleted: await this.values.erase(subject, category) };
  }
}
