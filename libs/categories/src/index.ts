export { CategoriesModule } from './categories.module';
export { CategoriesService, isDeclared } from './categories.service';
export { CategoryDeclarations } from './category-declarations';
export type { DeclaredValues } from './declared-values';
export {
  categoryName,
  type CategoryRow,
  type CategoryWords,
  countCategories,
  daysOf,
  declarationsOf,
  holdCategories,
  holdRetentionDays,
  labelsOf,
  legalBasisOf,
  limitedCategories,
  nextBotWithLimits,
  purposesOf,
  restsOnConsent,
  undeclared,
  wordsOf,
} from './category-queries';
export { Category } from './category.entity';
export { type DeclaredPurpose, declaredPurposes, purposesShown } from './declared-purposes';
export { purposeIn, type Purposes, purposesByLanguage } from './purposes';
