export {
  answerError,
  answerPage,
  ApiExceptionFilter,
  errorEnvelope,
  jsonOf,
  JsonText,
  rateHeaders,
  successEnvelope,
  WebPage,
} from './answer';
export {
  AdmittedBy,
  accessOf,
  ALL_SCOPES,
  CurrentBot,
  EvenWhile,
  ForOperator,
  insufficientScope,
  NoFurtherMethod,
  Public,
  requireAccess,
  RequiresScope,
  type Scope,
  scopeBits,
  SCOPES,
  scopesOf,
} from './scopes';
export {
  attempt,
  BATCH_MAX,
  BatchBody,
  batchTurns,
  done,
  ItemErrorView,
  type ItemResult,
  Items,
  refused,
  Results,
} from './batch';
export { AdmissionGuard, DiskGuard } from './route.guards';
export { BodyGuard, FormBody, type FormFields } from './body.guard';
export { Describes, documenting, EXAMPLE, EXAMPLE_SUBJECT, type Examples, Topic, topicOf } from './describes';
export { dtoOf, DtoPipe } from './form';
export {
  ConsentVersion,
  Count,
  Email,
  field,
  Flag,
  HttpsUrl,
  Integer,
  JsonObject,
  KEY_MAX,
  matches,
  OneOf,
  type Given,
  type Presence,
  QueryInteger,
  Slug,
  Snowflake,
  SomeOf,
  Timestamp,
  Uuid,
  WebUrl,
} from './fields';
export {
  EitherShape,
  guideSchemas,
  RegistrationBody,
  requireOwnBot,
  SubjectBody,
  SubjectQuery,
  withEitherShape,
} from './guide-shape';
export { LetheHttpAdapter } from './http.adapter';
export { ListOf, ObjectOf, Of } from './nested.fields';
export { GuildPath, IdPath, KeyPath, UserPath } from './paths';
export {
  AnyText,
  DECLARED_TEXT_MAX,
  isText,
  type Labels,
  LabelsByLanguage,
  languageFor,
  LanguageTag,
  OptionalText,
  Text,
  Texts,
} from './text.fields';
export {
  type CountedPart,
  inPieces,
  ListPage,
  Page,
  PageQuery,
  Pagination,
  type Position,
  WalkPagination,
  WalkQuery,
} from './pagination';
export { addNumberFaults, EXPONENT_FROM, isObject, mergePatch, numberFault } from './json';
export { Counted, countRate, Quota, RateLimitGuard } from './rate-limit.guard';
export { type Acting, type Actor, Caller, JOB, type LetheRequest, RequestContext } from './request-context';
export {
  API_KEY_SCHEME,
  completeOperation,
  type DocumentedOperation,
  IDEMPOTENT_ROUTE_EXTENSION,
  OPERATOR_SCHEME,
  Responds,
  RespondsLines,
} from './responds';
export { identifyOperator, requireOperator } from './operator-token';
export { hostFault, isWildcard, reachableUrl } from './served-host';
export { AnswerStream, grouped, NDJSON } from './streams';
export { RedisRateLimitStore } from './rate-limit.redis';
export { MemoryRateLimitStore, RateLimitStore } from './rate-limit.store';
export { REDIS_LIMITS } from './redis-link';
