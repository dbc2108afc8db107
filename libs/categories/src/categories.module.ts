import { Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { CategoriesController } from './categories.controller';
import { CategoriesService } from './categories.service';
import { Category } from './category.entity';
import { CategoryDeclarations } from './category-declarations';

@Module({
  imports: [DatabaseModule.forFeature([Category])],
  controllers: [CategoriesController],
  providers: [CategoriesService, CategoryDeclarations],
  exports: [CategoriesService, CategoryDeclarations],
})
export class CategoriesModule {}
