import { Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { CategoriesController } from './categories.controller';
import { CategoriesService } from './categories.service';
import { Category } from './category.entity';
import { CategoryDeclarations } from './category-declarations';
import { Categories1763600000003 } from './migrations/1763600000003-categories';
import { Purposes1763600000023 } from './migrations/1763600000023-purposes';
import { WithoutConsent1763600000034 } from './migrations/1763600000034-without-consent';
import { CategoryDeletions1763600000036 } from './migrations/1763600000036-category-deletions';

@Module({
  imports: [
    DatabaseModule.forFeature(
      [Category],
      [
        Categories1763600000003,
        Purposes1763600000023,
        WithoutConsent1763600000034,
        CategoryDeletions1763600000036,
      ],
    ),
  ],
  controllers: [CategoriesController],
  providers: [CategoriesService, CategoryDeclarations],
  exports: [CategoriesService, CategoryDeclarations],
})
export class CategoriesModule {}
