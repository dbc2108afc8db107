export { errorEnvelope, JsonStream, JsonText, successEnvelope, TextStream } from './answer';
export { CurrentBot, Public, PUBLIC_ROUTE } from './auth';
export { Clock, daysAfter, Random, SystemClock, SystemRandom } from './clock';
export { CommonModule } from './common.module';
export { CONFIG, type Config, ConfigError, loadConfig, readConfig } from './config';
export { Degradations } from './degradations';
export { DomainEvents, OnDomainEvent } from './domain-events';
export { DtoPipe } from './dto.pipe';
export { EgressPolicy } from './egress';
export {
  ApiError,
  conflict,
  type ConflictReason,
  type ErrorCode,
  ERRORS,
  type FieldFault,
  internalError,
  invalidRequest,
  notFound,
} from './errors';
export { ActSource, Digest, LanguageTag } from './evidence.fields';
export { ApiExceptionFilter } from './exception.filter';
export {
  ConsentVersion,
  Email,
  Flag,
  Integer,
  itemTypeOf,
  JsonObject,
  Key,
  ListOf,
  OneOf,
  QueryInteger,
  Snowflake,
  Text,
  Texts,
  Timestamp,
  Uuid,
  WebUrl,
} from './fields';
export { RegistrationBody, requireOwnBot, SubjectBody, SubjectQuery } from './guide-shape';
export { LetheHttpAdapter } from './http.adapter';
export { firstIdAt } from './id-time';
export { jsonBody } from './json-body';
export { addNumberFaults, mergePatch, numberFault } from './json-value';
export { createLogger, describeFault, LOGGER, logStream, NestLogger } from './logger';
export { type MetricDefinition, METRICS } from './metric.definitions';
export { metricsEndpoint } from './metrics.endpoint';
export { type LabelOf, Metrics, NO_METRICS } from './metrics';
export { Page, PageQuery, Pagination } from './pagination';
export { LineStream, PublicDocument } from './plain-answer';
export { PrometheusMetrics } from './prometheus.metrics';
export { RateLimitGuard } from './rate-limit.guard';
export { countRate } from './rate-limit.middleware';
export { RATE_LIMIT_LOCAL, RedisRateLimitStore } from './rate-limit.redis';
export { MemoryRateLimitStore, RateLimitStore } from './rate-limit.store';
export { Caller, type LetheRequest, RequestContext } from './request-context';
export { Responds, RespondsLines } from './responds';
export { DEFAULT_DATABASE_PATH, SETTINGS } from './settings';
export { SharedReading } from './shared.reading';
export { observeUnitOfWork, type UnitOfWorkSizes } from './unit-of-work.observer';
export {
  AUDIT_EVENT_TYPES,
  type AuditEventType,
  BOT_WIDE_GUILD_ID,
  CONSENT_STATUSES,
  DELETION_STATUSES,
} from './vocabulary';
