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
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import {
  Caller,
  CurrentBot,
  Describes,
  DtoPipe,
  EXAMPLE,
  KeyPath,
  type LetheRequest,
  type ListPage,
  PageQuery,
  requireOwnBot,
  RequiresScope,
  Responds,
  Topic,
} from '@app/http';
import { Claim, Claimed } from '@app/acts';
import {
  CategoriesView,
  CategoryDeletedView,
  CategoryView,
  ChangeCategory,
  type GuideCategory,
  RegisterCategory,
  RegisteredCategoriesView,
  RegisterGuideCategories,
} from './categories.dto';
import { EXAMPLES } from './categories.examples';
import { CategoriesService } from './categories.service';
import { withWarnings } from './category-basis';
import type { CategoryInput } from './category-options';

type Registration = { readonly inputs: readonly CategoryInput[]; readonly asList: boolean };

/** Reads both shapes of the registration as a list. A body with `categories` and without `key` has the guide's shape. */
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

function canonical(category: GuideCategory, at: number): CategoryInput {
  const named = { key: category.name, label_de: category.name, label_en: category.name };
  return { ...category, ...named, fields: [], path: `categories[${at}].` };
}

@Topic(
  'Data categories',
  'What a bot stores, declared before it is stored: typed fields, purpose, legal basis (GDPR Art. 6) and time limit.',
)
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
  @Describes({
    summary: 'Declare a data category and its fields',
    description:
      'Declares what the bot will store: a key, labels in German and English, and typed fields that ' +
      'every submit is checked against. Purpose (`description_de`, `description_en`, `descriptions`, and ' +
      '`description` where these are missing), `retention_days` and ' +
      '`legal_basis` appear in exports and in the record of processing activities (GDPR Art. 30). A key that is registered already is ' +
      'refused with 409 `category_exists`; where values need a consent beside another `legal_basis`, `warnings` says so; ' +
      'with `requires_consent: false`, another `legal_basis` than consent and a reason in German ' +
      'and English the category is stored without a consent, which users read on their page and in the notice. In the shape with `bot_id` several categories are declared ' +
      'at once, all of them or none.',
    examples: EXAMPLES.register,
  })
  @Responds(201, [CategoryView, RegisteredCategoriesView], ['not_found', 'category_exists', 'limit_reached'])
  async register(
    @CurrentBot() bot: Caller,
    @RegistrationShape() { inputs, asList }: Registration,
    @Claimed() claim: Claim,
  ): Promise<object | undefined> {
    const registered = (await this.categories.register(bot.botId, inputs, claim)).map(withWarnings);
    return asList ? ({ categories: registered } satisfies RegisteredCategoriesView) : registered[0];
  }

  @Get('categories')
  @Describes({
    summary: 'List the data categories',
    description: 'Answers one page of the declared categories with their fields, oldest first.',
  })
  @Responds(200, CategoriesView)
  list(@CurrentBot() bot: Caller, @Query() query: PageQuery): Promise<ListPage> {
    return this.categories.list(bot.botId, query);
  }

  @Get('categories/:key')
  @Describes({
    summary: 'Read a data category',
    description: 'Answers one declared category with its fields. An unknown key is answered with 404.',
    parameters: { key: EXAMPLE.category },
  })
  @Responds(200, CategoryView, ['not_found'])
  view(@CurrentBot() bot: Caller, @Param() { key }: KeyPath): Promise<CategoryView> {
    return this.categories.view(bot.botId, key);
  }

  @Put('categories/:key')
  @Describes({
    summary: 'Change a data category',
    description:
      'Changes what the body names: labels, purpose, time limit, legal basis, and further fields. ' +
      'Stored values stay readable: a declared field can neither be removed nor get another type (409 ' +
      '`category_in_use`). `requires_consent` turns to true only while no value is stored, and to false only while none of a ' +
      'withdrawn consent is (409 `category_in_use`); so it is with `legal_basis` that turns to consent, or to one under which stored values would come under an objection. A repeat has the same result.',
    parameters: { key: EXAMPLE.category },
    examples: EXAMPLES.change,
  })
  @Responds(200, CategoryView, ['not_found', 'category_in_use'])
  change(
    @CurrentBot() bot: Caller,
    @Param() { key }: KeyPath,
    @Body() body: ChangeCategory,
  ): Promise<CategoryView> {
    return this.categories.change(bot.botId, key, body);
  }

  @Delete('categories/:key')
  @RequiresScope('erase')
  @Describes({
    summary: 'Remove a data category and every value stored under it',
    description:
      'Erases every value that any user has under this category, then removes the declaration. ' +
      'If the call is interrupted, repeat it: it continues with what is left. Once the category is ' +
      'removed a repeat is answered with 404.',
    parameters: { key: EXAMPLE.category },
  })
  @Responds(200, CategoryDeletedView, ['not_found'])
  async delete(@CurrentBot() bot: Caller, @Param() { key }: KeyPath): Promise<CategoryDeletedView> {
    await this.categories.delete(bot, key);
    return { key, deleted: true };
  }
}
