export { errorEnvelope, jsonOf, JsonText, rateHeaders, successEnvelope } from './answer';
export { CurrentBot, Public } from './auth';
export { PublicDocument } from './bare-answer';
export {
  attempt,
  BATCH_MAX,
  done,
  inTurns,
  ItemErrorView,
  itemOf,
  type ItemResult,
  Items,
  refused,
  Results,
} from './batch';
export { BatchBody } from './batch-body';
export { BodyGuard } from './body.guard';
export { Describes, type Examples, Topic, topicOf } from './describes';
export { DiskGuard, OnLowDisk } from './disk.guard';
export { DtoPipe } from './dto.pipe';
export { EXAMPLE, EXAMPLE_SUBJECT, examplePage } from './examples';
export { ApiExceptionFilter, toApiError } from './exception.filter';
export { field, matches, type Presence } from './field-rule';
export {
  ConsentVersion,
  Email,
  Flag,
  Integer,
  itemTypeOf,
  JsonObject,
  ListOf,
  OneOf,
  QueryInteger,
  Slug,
  Snowflake,
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
} from './guide-shape';
export { FormBody, type FormFields } from './form-body';
export { LetheHttpAdapter } from './http.adapter';
export { type Labels, LabelsByLanguage, languageFor, LanguageTag } from './language.fields';
export { inPieces, ListPage } from './list-page';
export { addNumberFaults, mergePatch, numberFault } from './json-value';
export { Page, PageQuery, Pagination, type Position } from './pagination';
export { Counted, Quota } from './quota';
export { RateLimitGuard } from './rate-limit.guard';
export { countRate } from './rate-limit.middleware';
export { Caller, type LetheRequest, RequestContext } from './request-context';
export {
  API_KEY_SCHEME,
  completeOperation,
  type DocumentedOperation,
  IDEMPOTENT_ROUTE_EXTENSION,
  Responds,
  RespondsLines,
} from './responds';
export {
  accessOf,
  ALL_SCOPES,
  insufficientScope,
  requireAccess,
  RequiresScope,
  type Scope,
  scopeBits,
  ScopeList,
  SCOPES,
  scopesOf,
  WhileSuspended,
} from './scopes';
export { hostFault } from './served-host';
export { JsonStream, LineStream, type PageReader, TextStream } from './streams';
export { answerPage, WebPage } from './web-page';
export { OptionalText, Text, Texts } from './text.fields';
