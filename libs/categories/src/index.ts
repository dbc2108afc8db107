export { CategoriesModule } from './categories.module';
export { CategoriesService, isDeclared } from './categories.service';
export { CategoryDeclarations } from './category-declarations';
export {
  countCategories,
  holdRetentionDays,
  legalBasisOf,
  limitedCategories,
  nextBotWithLimits,
} from './category-queries';
export { Category } from './category.entity';
export { type DeclaredPurpose, declaredPurposes } from './declared-purposes';
