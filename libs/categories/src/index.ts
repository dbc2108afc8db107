export { CategoriesModule } from './categories.module';
export { CategoriesService, isDeclared } from './categories.service';
export { CategoryDeclarations, type DeclaredValues } from './category-declarations';
export {
  categoryName,
  type CategoryRow,
  countCategories,
  daysOf,
  declarationsOf,
  type DeclaredPurpose,
  declaredPurposes,
  holdCategories,
  holdRetentionDays,
  isObjectable,
  labelsOf,
  legalBasisOf,
  limitedCategories,
  nextBotWithLimits,
  objectableCategories,
  purposesOf,
  purposesShown,
  restsOnConsent,
  undeclared,
} from './category-queries';
export { Category } from './category.entity';
export { purposeIn, type Purposes, purposesByLanguage } from './purposes';
