import {
  Body,
  Controller,
  createParamDecorator,
  Delete,
  type ExecutionContext,
  Get,
  Param,
  Post,
  Put,
  Query,
} from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import {
  Caller,
  CurrentBot,
  DtoPipe,
  type LetheRequest,
  PageQuery,
  requireOwnBot,
  Responds,
} from '@app/http';
import {
  CategoriesView,
  CategoryDeletedView,
  CategoryPath,
  CategoryView,
  ChangeCategory,
  type GuideCategory,
  RegisterCategory,
  RegisteredCategoriesView,
  RegisterGuideCategories,
} from './categories.dto';
import { CategoriesService, type CategoryInput } from './categories.service';

type Registration = { readonly inputs: readonly CategoryInput[]; readonly asList: boolean };

/** Either shape of the registration, as a list of canonical inputs; the guide's is known by `categories` without `key`. */
const RegistrationShape = createParamDecorator((_: unknown, context: ExecutionContext): Registration => {
  const { body, context: own } = context.switchToHttp().getRequest<LetheRequest>();
  const pipe = new DtoPipe();
  const raw = (body ?? {}) as Record<string, unknown>;
  if (raw['bot_id'] == null || raw['key'] != null || raw['categories'] == null) {
    const input = pipe.transform(body, { type: 'body', metatype: RegisterCategory }) as RegisterCategory;
    return { inputs: [input], asList: false };
  }
  requireOwnBot(raw['bot_id'], own.caller);
  const { categories } = pipe.transform(body, {
    type: 'body',
    metatype: RegisterGuideCategories,
  }) as RegisterGuideCategories;
  return { inputs: categories.map(canonical), asList: true };
});

function canonical(category: GuideCategory): CategoryInput {
  return { ...category, key: category.name, label_de: category.name, label_en: category.name, fields: [] };
}

@ApiTags('Data categories')
@Controller('data')
export class CategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Post('register')
  @ApiExtraModels(RegisterCategory, RegisterGuideCategories)
  @ApiBody({
    schema: {
      oneOf: [RegisterCategory, RegisterGuideCategories].map((type) => ({ $ref: getSchemaPath(type) })),
    },
  })
  @Responds(201, CategoryView, ['conflict', 'payload_too_large', 'unsupported_media_type'])
  async register(
    @CurrentBot() bot: Caller,
    @RegistrationShape() { inputs, asList }: Registration,
  ): Promise<object | undefined> {
    const registered = await this.categories.register(bot.botId, inputs);
    return asList ? ({ categories: registered } satisfies RegisteredCategoriesView) : registered[0];
  }

  @Get('categories')
  @Responds(200, CategoriesView)
  list(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<CategoriesView> {
    return this.categories.list(bot.botId, query);
  }

  @Get('categories/:key')
  @Responds(200, CategoryView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() { key }: CategoryPath): Promise<CategoryView> {
    return this.categories.view(bot.botId, key);
  }

  @Put('categories/:key')
  @Responds(200, CategoryView, ['not_found', 'conflict', 'payload_too_large', 'unsupported_media_type'])
  change(
    @CurrentBot() bot: Caller,
    @Param() { key }: CategoryPath,
    @Body() body: ChangeCategory,
  ): Promise<CategoryView> {
    return this.categories.change(bot.botId, key, body);
  }

  @Delete('categories/:key')
  @Responds(200, CategoryDeletedView, ['not_found'])
  async delete(@CurrentBot() bot: Caller, @Param() { key }: CategoryPath): Promise<CategoryDeletedView> {
    await this.categories.delete(bot.botId, key);
    return { key, deleted: true };
  }
}
