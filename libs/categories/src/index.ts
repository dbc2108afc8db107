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
  labelsOf,
  legalBasisOf,
  limitedCategories,
  nextBotWithLimits,
  purposesOf,
  purposesShown,
  restsOnConsent,
  undeclared,
} from './category-queries';
export { Category } from './category.entity';
export { isObjectable, objectableCategories } from './objectable-categories';
export { purposeIn, type Purposes, purposesByLanguage } from './purposes';
