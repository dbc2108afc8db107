export { CategoriesModule } from './categories.module';
export { CategoriesService, type HeldKeys } from './categories.service';
export { CategoryDeclarations, type DeclaredValues, fieldsSaid } from './category-declarations';
export {
  BOTS_WITH_LIMITS,
  categoryName,
  countCategories,
  declarationsOf,
  type DeclaredPurpose,
  declaredPurposes,
  type HeldCategories,
  holdCategories,
  holdRetentionDays,
  limitedCategories,
  purposesShown,
  undeclared,
} from './category-queries';
export {
  basisOf,
  consentFree,
  restsOnConsent,
  storedWithoutConsent,
  storesWithoutConsent,
} from './category-basis';
export { Category } from './category.entity';
export { isObjectable, objectableCategories } from './objectable-categories';
export { purposeIn, type Purposes, purposesByLanguage } from './purposes';
export type { Reasons } from './reasons';
