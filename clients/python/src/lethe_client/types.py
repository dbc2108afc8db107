"""The records of the interface: what calls take and answer. It is made of openapi.json: npm run openapi."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Tuple, TypedDict, Union

Id = Union[str, int]

#: The codes of the errors of the service.
CODES: Tuple[str, ...] = (
    "invalid_request",
    "unauthorized",
    "consent_required",
    "processing_refused",
    "suspended",
    "insufficient_scope",
    "not_found",
    "conflict",
    "payload_too_large",
    "unsupported_media_type",
    "misdirected_request",
    "rate_limit_exceeded",
    "internal_error",
    "service_unavailable",
)

#: What the webhook calls say.
EVENTS: Tuple[str, ...] = ("user_forgotten", "consent_revoked", "data_corrected", "holder_task", "ping")


class ChangeNoticeSettings(TypedDict, total=False):
    public: Optional[bool]
    controller_name: Optional[str]
    controller_address: Optional[str]
    controller_email: Optional[str]
    officer_name: Optional[str]
    officer_email: Optional[str]
    recipients: Optional[List[NoticeRecipient]]
    interests_de: Optional[str]
    interests_en: Optional[str]
    source_de: Optional[str]
    source_en: Optional[str]
    automated_decisions: Optional[Literal["none", "exist"]]
    automated_decisions_de: Optional[str]
    automated_decisions_en: Optional[str]
    authority_name: Optional[str]
    authority_url: Optional[str]
    notice_url: Optional[str]


class _NoticeRecipient(TypedDict):
    name: str


class NoticeRecipient(_NoticeRecipient, total=False):
    purpose_de: Optional[str]
    purpose_en: Optional[str]
    country: Optional[str]
    safeguards_de: Optional[str]
    safeguards_en: Optional[str]


class BotRegisteredView(TypedDict):
    id: str
    platform_bot_id: str
    name: str
    api_key: str
    api_key_prefix: str
    webhook_secret: str
    notice: str


class _BotView(TypedDict):
    id: str
    platform_bot_id: str
    name: str
    privacy_contact: Optional[str]
    webhook_url: Optional[str]
    webhook_health: Optional[WebhookHealthView]
    api_key_prefix: str
    created_at: str
    updated_at: str


class BotView(_BotView, total=False):
    suspended_at: str


class WebhookHealthView(TypedDict):
    status: Literal["unused", "healthy", "failing"]
    pending: int
    undelivered: int
    consecutive_failures: int
    last_outcome: Optional[str]
    last_delivered_at: Optional[str]
    last_failed_at: Optional[str]


class BotDeletedView(TypedDict):
    id: str
    deleted: bool
    deleted_at: str


class _NoticeSettingsView(TypedDict):
    updated_at: Optional[str]
    changes: List[NoticeChange]
    data_after_withdrawal: Optional[int]


class NoticeSettingsView(_NoticeSettingsView, total=False):
    public: Optional[bool]
    controller_name: Optional[str]
    controller_address: Optional[str]
    controller_email: Optional[str]
    officer_name: Optional[str]
    officer_email: Optional[str]
    recipients: Optional[List[NoticeRecipient]]
    interests_de: Optional[str]
    interests_en: Optional[str]
    source_de: Optional[str]
    source_en: Optional[str]
    automated_decisions: Optional[Literal["none", "exist"]]
    automated_decisions_de: Optional[str]
    automated_decisions_en: Optional[str]
    authority_name: Optional[str]
    authority_url: Optional[str]
    notice_url: Optional[str]
    countries: List[NoticeCountry]
    page_url: str


class NoticeChange(TypedDict):
    at: str
    fields: List[str]


class NoticeCountry(TypedDict):
    country: str
    name_de: str
    name_en: str
    third_country: bool


class WebhookSecretView(TypedDict):
    webhook_secret: str
    overlap_until: str


class DeliveryView(TypedDict):
    id: str
    event: Literal["user_forgotten", "consent_revoked", "data_corrected", "holder_task", "ping"]
    status: Literal["pending", "delivered", "exhausted", "gone", "cancelled"]
    user_id: Optional[str]
    guild_id: Optional[str]
    request_id: Optional[str]
    attempt_count: int
    last_outcome: Optional[str]
    last_status_code: Optional[int]
    created_at: str
    next_attempt_at: Optional[str]
    finished_at: Optional[str]


class DeliveryDetailsView(TypedDict):
    id: str
    event: Literal["user_forgotten", "consent_revoked", "data_corrected", "holder_task", "ping"]
    status: Literal["pending", "delivered", "exhausted", "gone", "cancelled"]
    user_id: Optional[str]
    guild_id: Optional[str]
    request_id: Optional[str]
    attempt_count: int
    last_outcome: Optional[str]
    last_status_code: Optional[int]
    created_at: str
    next_attempt_at: Optional[str]
    finished_at: Optional[str]
    payload: Dict[str, Any]
    attempts: List[AttemptView]


class AttemptView(TypedDict):
    number: int
    started_at: Optional[str]
    duration_ms: Optional[int]
    outcome: str
    status_code: Optional[int]


class ReplayView(TypedDict):
    queued: int


class _ApiKeyView(TypedDict):
    id: str
    api_key_prefix: str
    scopes: List[Literal["read", "write", "erase", "admin"]]
    expires_at: Optional[str]
    last_used_at: Optional[str]
    created_at: str


class ApiKeyView(_ApiKeyView, total=False):
    name: str


class _ApiKeyCreatedView(TypedDict):
    id: str
    api_key: str
    api_key_prefix: str
    scopes: List[Literal["read", "write", "erase", "admin"]]
    expires_at: Optional[str]
    created_at: str


class ApiKeyCreatedView(_ApiKeyCreatedView, total=False):
    name: str


class _ApiKeyRotatedView(TypedDict):
    id: str
    api_key: str
    api_key_prefix: str
    scopes: List[Literal["read", "write", "erase", "admin"]]
    expires_at: Optional[str]
    created_at: str
    overlap_until: str


class ApiKeyRotatedView(_ApiKeyRotatedView, total=False):
    name: str


class ApiKeyDeletedView(TypedDict):
    id: str
    deleted: Literal[True]
    deleted_at: str


class _ServerView(TypedDict):
    id: str
    guild_id: str
    name: Optional[str]
    created_at: str
    deletion_scheduled_for: Optional[str]


class ServerView(_ServerView, total=False):
    unreadable: bool


class _GuildErasedView(TypedDict):
    guild_id: str
    deleted: bool
    erased_users: int


class GuildErasedView(_GuildErasedView, total=False):
    scheduled_for: str


class _DataFieldInput(TypedDict):
    key: str
    type: Literal["string", "number", "boolean", "date", "json"]
    label_de: str
    label_en: str


class DataFieldInput(_DataFieldInput, total=False):
    labels: Mapping[str, str]
    description: Optional[str]
    description_de: str
    description_en: str
    descriptions: Mapping[str, str]
    editable: bool


class _CategoryView(TypedDict):
    id: str
    key: str
    label_de: str
    label_en: str
    description: Optional[str]
    retention_days: Optional[int]
    legal_basis: Literal["consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests"]
    fields: List[DataFieldInput]
    created_at: str


class CategoryView(_CategoryView, total=False):
    labels: Dict[str, str]
    description_de: str
    description_en: str
    descriptions: Dict[str, str]
    requires_consent: bool
    reason_de: str
    reason_en: str
    deleting_at: str
    warnings: List[str]


class CategoryDeletedView(TypedDict):
    key: str
    deleted: Literal[True]


class _ConsentRequestedView(TypedDict):
    id: str
    status: Literal["none", "pending", "accepted", "revoked"]
    version: str
    requested_at: str


class ConsentRequestedView(_ConsentRequestedView, total=False):
    consent_id: str
    categories: List[str]
    texts: ConsentTextsView


class _ConsentTextsView(TypedDict):
    title: str
    body: str
    categories: List[CategoryText]


class ConsentTextsView(_ConsentTextsView, total=False):
    accept_label: str
    decline_label: str


class CategoryText(TypedDict):
    key: str
    label: str
    text: str


class _AcceptedConsentView(TypedDict):
    id: str
    status: Literal["none", "pending", "accepted", "revoked"]
    version: str
    user_id: str
    guild_id: str
    requested_at: str
    accepted_at: Optional[str]
    revoked_at: Optional[str]


class AcceptedConsentView(_AcceptedConsentView, total=False):
    data_erased_at: str
    categories: List[CategoryConsentView]
    receipt: str


class _CategoryConsentView(TypedDict):
    key: str
    status: Literal["none", "pending", "accepted", "revoked"]


class CategoryConsentView(_CategoryConsentView, total=False):
    data_erased_at: str


class _ConsentDeclinedView(TypedDict):
    status: Literal["none", "pending", "accepted", "revoked"]
    version: Optional[str]
    user_id: str
    guild_id: str
    accepted_at: Optional[str]
    revoked_at: Optional[str]
    declined_at: Optional[str]


class ConsentDeclinedView(_ConsentDeclinedView, total=False):
    pending_version: str
    data_erased_at: str
    categories: List[CategoryConsentView]


class _ConsentView(TypedDict):
    id: str
    status: Literal["none", "pending", "accepted", "revoked"]
    version: str
    user_id: str
    guild_id: str
    requested_at: str
    accepted_at: Optional[str]
    revoked_at: Optional[str]


class ConsentView(_ConsentView, total=False):
    data_erased_at: str
    categories: List[CategoryConsentView]


class _ConsentStatusView(TypedDict):
    status: Literal["none", "pending", "accepted", "revoked"]
    version: Optional[str]
    user_id: str
    guild_id: str
    accepted_at: Optional[str]
    revoked_at: Optional[str]
    declined_at: Optional[str]


class ConsentStatusView(_ConsentStatusView, total=False):
    pending_version: str
    data_erased_at: str
    categories: List[CategoryConsentView]


class ConsentHistoryEntryView(TypedDict):
    id: str
    consent_id: str
    action: Literal["requested", "shown", "accepted", "declined", "revoked", "categories_withdrawn"]
    version: str
    categories: Optional[List[str]]
    language: Optional[str]
    texts: List[ShownTextView]
    source: Optional[str]
    created_at: str


class ShownTextView(TypedDict):
    language: str
    digest: str


class ConsentReceiptView(TypedDict):
    receipt: str
    payload: Dict[str, Any]


class _FurtherConsentText(TypedDict):
    title: str
    body: str


class FurtherConsentText(_FurtherConsentText, total=False):
    accept_label: str
    decline_label: str
    privacy_notice: str
    jurisdiction: str
    storage_locations: List[str]
    recipient_third_parties: List[str]
    withdrawal_method: str
    categories: List[CategoryText]


class _ConsentTextView(TypedDict):
    title: str
    body: str
    consent_version: str
    language: str
    digest: str
    categories: List[CategoryText]
    created_at: str


class ConsentTextView(_ConsentTextView, total=False):
    accept_label: str
    decline_label: str
    privacy_notice: str
    jurisdiction: str
    storage_locations: List[str]
    recipient_third_parties: List[str]
    withdrawal_method: str
    texts: Dict[str, ConsentTextView]


class _ConsentWordsView(TypedDict):
    title: str
    body: str
    digest: str
    categories: List[CategoryText]


class ConsentWordsView(_ConsentWordsView, total=False):
    accept_label: str
    decline_label: str
    privacy_notice: str
    jurisdiction: str
    storage_locations: List[str]
    recipient_third_parties: List[str]
    withdrawal_method: str


class _ListedUserView(TypedDict):
    status: Literal["none", "pending", "accepted", "revoked"]
    version: Optional[str]
    user_id: str
    guild_id: str
    accepted_at: Optional[str]
    revoked_at: Optional[str]
    declined_at: Optional[str]
    updated_at: Optional[str]


class ListedUserView(_ListedUserView, total=False):
    pending_version: str
    data_erased_at: str
    categories: List[CategoryConsentView]
    unreadable: bool


class _UserValueView(TypedDict):
    user_id: str
    data: Optional[Dict[str, Any]]
    updated_at: str


class UserValueView(_UserValueView, total=False):
    unreadable: bool


class ValuesView(TypedDict):
    user_id: str
    guild_id: str
    values: Dict[str, Dict[str, Any]]
    updated_at: Dict[str, str]


class ValuesErasedView(TypedDict):
    deleted: bool


class RefusalsView(TypedDict):
    user_id: str
    guild_id: str
    objections: List[RefusalView]
    restrictions: List[RefusalView]


class RefusalView(TypedDict):
    category: Optional[str]
    since: str


class _AuditEventView(TypedDict):
    id: str
    guild_id: str
    user_id: str
    event_type: Literal["consent_requested", "consent_accepted", "consent_revoked", "data_submitted", "data_exported", "data_deleted", "deletion_requested", "deletion_completed", "deletion_failed"]
    source: Literal["service", "client"]
    details: Optional[Dict[str, Any]]
    created_at: str


class AuditEventView(_AuditEventView, total=False):
    erased: bool
    unreadable: bool


class AuditProofView(TypedDict):
    bot_id: str
    event: ProvenEventView
    leaf_index: int
    path: List[str]
    checkpoint: str


class ProvenEventView(TypedDict):
    seq: int
    id: str
    event_type: Literal["consent_requested", "consent_accepted", "consent_revoked", "data_submitted", "data_exported", "data_deleted", "deletion_requested", "deletion_completed", "deletion_failed"]
    source: Literal["service", "client"]
    created_at: str
    commitment: str
    erased: bool
    parts: Optional[ProvenEventViewParts]


class ProvenEventViewParts(TypedDict, total=False):
    """The parts behind the commitment: each with its salt, or only its hash where it must stay secret; null once
    erased
    """
    user: ProvenEventViewPartsUser
    guild: ProvenEventViewPartsGuild
    details: ProvenEventViewPartsDetails


class ProvenEventViewPartsUser(TypedDict, total=False):
    value: Optional[str]
    salt: str
    hash: str


class ProvenEventViewPartsGuild(TypedDict, total=False):
    value: Optional[str]
    salt: str
    hash: str


class ProvenEventViewPartsDetails(TypedDict, total=False):
    value: Optional[str]
    salt: str
    hash: str


class CheckpointView(TypedDict):
    number: int
    first_seq: int
    last_seq: int
    events: int
    root: str
    chain: str
    sealed_at: str
    checkpoint: str


BreachScopeView = TypedDict("BreachScopeView", {"from": "str", "to": "str", "generated_at": "str", "log_begins_at": "Optional[str]", "exact": "bool", "affected": "AffectedCount", "acts": "ActCounts", "records_held": "int", "records_touched": "int", "categories": "List[CategoryScope]"})


class AffectedCount(TypedDict):
    subjects: int
    users: int
    guilds: int


class ActCounts(TypedDict):
    stored: ActCount
    exported: ActCount
    deleted: ActCount
    erased: ActCount


class ActCount(TypedDict):
    events: int
    subjects: int


class CategoryScope(TypedDict):
    category: str
    label_de: str
    label_en: str
    records_held: int
    records_touched: int


class StatsView(TypedDict):
    buckets: List[StatsBucket]
    under_consent: List[ConsentCountView]


class StatsBucket(TypedDict):
    at: str
    counts: StatsBucketCounts
    webhooks: WebhookCounts
    erasure_ms: Optional[ErasureTimes]


class StatsBucketCounts(TypedDict):
    """For each audit event type the number of events of the service"""
    consent_requested: int
    consent_accepted: int
    consent_revoked: int
    data_submitted: int
    data_exported: int
    data_deleted: int
    deletion_requested: int
    deletion_completed: int
    deletion_failed: int


class WebhookCounts(TypedDict):
    delivered: int
    failed: int
    exhausted: int


class ErasureTimes(TypedDict):
    p50: int
    p95: int
    max: int


class ConsentCountView(TypedDict):
    at: str
    subjects: int
    counted_at: str


class PrivacyLinkView(TypedDict):
    id: str
    url: str
    expires_at: str


class PrivacyLinkDeletedView(TypedDict):
    id: str
    deleted: bool


class _DeletionRequestView(TypedDict):
    request_id: str
    status: Literal["processing", "completed", "failed"]
    user_id: str
    guild_id: str
    created_at: str
    completed_at: Optional[str]
    unrecoverable_at: Optional[str]
    deleted_categories: Optional[List[str]]
    webhook_sent: bool


class DeletionRequestView(_DeletionRequestView, total=False):
    coverage: CoverageView


class CoverageView(TypedDict):
    complete: bool
    holders: List[CoveredHolderView]


class _CoveredHolderView(TypedDict):
    key: str
    label_de: str
    label_en: str
    result: Literal["erased", "nothing", "kept", "failed", "abandoned", "pending", "overdue"]
    at: Optional[str]


class CoveredHolderView(_CoveredHolderView, total=False):
    kept: KeptView


class KeptView(TypedDict):
    basis: str
    until: str


class CertificateView(TypedDict):
    certificate: str


class StatusView(TypedDict):
    health: HealthView
    version: str
    node: str
    started_at: str
    database: DatabaseView
    migrations: MigrationsView
    master_key: Literal["environment", "file", "secret_file", "command"]
    tiers: List[TierView]
    bots: BotCountsView
    subjects: int
    webhooks: WebhookBacklogView
    erasures: ErasureBacklogView
    sealing: SealingBacklogView
    backups: Optional[BackupsView]
    read_at: str


class HealthView(TypedDict):
    status: Literal["ok", "degraded"]
    conditions: List[ConditionView]


class ConditionView(TypedDict):
    name: str
    says: str
    mend: str


class DatabaseView(TypedDict):
    engine: Literal["sqlite", "postgres"]
    version: str
    bytes: int


class MigrationsView(TypedDict):
    applied: int
    pending: List[str]
    unknown: List[str]


class TierView(TypedDict):
    name: str
    requests_per_minute: int


class BotCountsView(TypedDict):
    total: int
    suspended: int


class WebhookBacklogView(TypedDict):
    waiting: int
    oldest_due: Optional[str]
    exhausted: int
    suspended_bots: int


class ErasureBacklogView(TypedDict):
    processing: int
    oldest: Optional[str]


class SealingBacklogView(TypedDict):
    unsealed_logs: int
    oldest: Optional[str]


class BackupsView(TypedDict):
    data: Optional[str]
    keys: Optional[str]
    ledger: Optional[str]
    data_bytes: Optional[int]
    keys_bytes: Optional[int]
    drill: Optional[DrillView]


class DrillView(TypedDict):
    at: str
    ok: bool
    bytes: Optional[int]


class FindingsView(TypedDict):
    findings: List[FindingView]
    read_at: str


class FindingView(TypedDict):
    id: str
    level: Literal["fault", "warning"]
    says: str
    mend: str


class StorageView(TypedDict):
    bytes: int
    disk: Optional[DiskView]
    samples: List[SampleView]


class DiskView(TypedDict):
    bytes: int
    free_bytes: int


class SampleView(TypedDict):
    at: str
    bytes: int
    bots: int
    subjects: int


class OperatedBotView(TypedDict):
    id: str
    platform_bot_id: str
    name: str
    state: Literal["active", "suspended", "deleting"]
    suspended_at: Optional[str]
    tier: str
    stored_tier: Optional[str]
    subjects: int
    values: int
    created_at: str
    last_used_at: Optional[str]


class HolderView(TypedDict):
    key: str
    kind: Literal["pull", "webhook"]
    covers: List[str]
    label_de: str
    label_en: str
    public_key: Optional[str]
    open_tasks: int
    oldest_open_at: Optional[str]
    created_at: str
    updated_at: str


class HolderDeletedView(TypedDict):
    key: str
    deleted: Literal[True]
    abandoned: int


class TaskView(TypedDict):
    task_id: str
    act: Literal["erase", "export"]
    request_id: str
    user_id: str
    guild_id: str
    created_at: str
    due_at: str
    result: Optional[Literal["erased", "nothing", "kept", "failed", "abandoned", "exported"]]
    answered_at: Optional[str]


class HoldersAcknowledgeKept(TypedDict, total=False):
    """The legal basis on which the store keeps data (GDPR Art. 17(3)), and when that basis ends. Only with the
    result kept
    """
    basis: str
    until: str


class ConsentQuery(TypedDict):
    user_id: Id
    guild_id: Id


class _SubmitData(TypedDict):
    user_id: Id
    guild_id: Id
    category: str
    data: Mapping[str, Any]


class SubmitData(_SubmitData, total=False):
    mode: Literal["replace", "merge"]


class ApiKeysView(TypedDict):
    keys: List[ApiKeyView]
    pagination: Pagination


class Pagination(TypedDict):
    page: Optional[int]
    page_size: int
    total_count: int
    total_pages: int
    next: Optional[str]


class ServersView(TypedDict):
    servers: List[ServerView]
    pagination: Pagination


class RegisteredCategoriesView(TypedDict):
    categories: List[CategoryView]


class CategoriesView(TypedDict):
    categories: List[CategoryView]
    pagination: Pagination


class StatusBatchView(TypedDict):
    results: List[ConsentStatusView]


class ConsentHistoryView(TypedDict):
    entries: List[ConsentHistoryEntryView]
    pagination: Pagination


class ConsentTextsListView(TypedDict):
    texts: List[ConsentTextView]
    pagination: Pagination


class UsersView(TypedDict):
    users: List[ListedUserView]
    pagination: WalkPagination


class WalkPagination(TypedDict):
    page_size: int
    next: Optional[str]


class SubmittedView(TypedDict):
    user_id: str
    guild_id: str
    category: str
    stored: bool
    updated_at: str


class SubmittedBatchView(TypedDict):
    results: List[Union[SubmittedBatchViewResults1, SubmittedBatchViewResults2]]


class SubmittedBatchViewResults1(TypedDict):
    ok: Literal[True]
    data: SubmittedView


class SubmittedBatchViewResults2(TypedDict):
    ok: Literal[False]
    error: ItemErrorView


class _ItemErrorView(TypedDict):
    code: str
    message: str


class ItemErrorView(_ItemErrorView, total=False):
    details: Dict[str, Any]


class GuildValuesView(TypedDict):
    values: List[UserValueView]
    pagination: Pagination


class AuditEventsView(TypedDict):
    events: List[AuditEventView]
    pagination: Pagination


class CheckpointsView(TypedDict):
    checkpoints: List[CheckpointView]
    pruning: Optional[str]
    pagination: Pagination


class DeliveriesView(TypedDict):
    deliveries: List[DeliveryView]
    pagination: Pagination


class _ProcessingRecordView(TypedDict):
    generated_at: str
    controller: ControllerView
    data_subjects: str
    recipients: List[RecipientView]
    transfers: str
    time_limits: List[TimeLimitView]
    security_measures: List[str]
    activities: List[ActivityView]


class ProcessingRecordView(_ProcessingRecordView, total=False):
    language: Literal["de", "en"]
    notice_settings: RecordedSettings
    gaps: List[GapView]


class ControllerView(TypedDict):
    bot_id: str
    platform_bot_id: str
    name: str
    privacy_contact: Optional[str]


class RecipientView(TypedDict):
    recipient: str
    host: Optional[str]
    receives: str


class TimeLimitView(TypedDict):
    applies_to: str
    days: Optional[int]


class RecordedSettings(TypedDict, total=False):
    public: Optional[bool]
    controller_name: Optional[str]
    controller_address: Optional[str]
    controller_email: Optional[str]
    officer_name: Optional[str]
    officer_email: Optional[str]
    recipients: Optional[List[NoticeRecipient]]
    interests_de: Optional[str]
    interests_en: Optional[str]
    source_de: Optional[str]
    source_en: Optional[str]
    automated_decisions: Optional[Literal["none", "exist"]]
    automated_decisions_de: Optional[str]
    automated_decisions_en: Optional[str]
    authority_name: Optional[str]
    authority_url: Optional[str]
    notice_url: Optional[str]


class _ActivityView(TypedDict):
    category: str
    label_de: str
    label_en: str
    purpose: Optional[str]
    legal_basis: str
    retention_days: Optional[int]
    fields: List[FieldView]


class ActivityView(_ActivityView, total=False):
    labels: Dict[str, str]
    purpose_de: str
    purpose_en: str
    purposes: Dict[str, str]
    requires_consent: bool
    reason_de: str
    reason_en: str


class _FieldView(TypedDict):
    key: str
    type: str
    label_de: str
    label_en: str
    description: Optional[str]


class FieldView(_FieldView, total=False):
    labels: Dict[str, str]
    description_de: str
    description_en: str
    descriptions: Dict[str, str]
    editable: bool


class _GapView(TypedDict):
    task: str
    field: str


class GapView(_GapView, total=False):
    category: str


class ReviewDossierView(TypedDict):
    generated_at: str
    language: Literal["de", "en"]
    bot: DossierBot
    privacy_policy: Optional[str]
    notice_settings: RecordedSettings
    data_subjects: str
    time_limits: List[TimeLimitView]
    encryption: DossierEncryption
    access: List[RecipientView]
    deletion: DossierDeletion
    consent: DossierConsent
    security_measures: List[str]
    backups: DossierBackups
    transfers: str
    to_add: List[str]
    activities: List[ActivityView]
    gaps: List[GapView]


class DossierBot(TypedDict):
    bot_id: str
    platform_bot_id: str
    name: str
    privacy_contact: Optional[str]
    registered_at: str


class DossierEncryption(TypedDict):
    algorithm: str
    master_key: Literal["environment", "file", "secret_file", "command"]
    statements: List[str]


DossierDeletion = TypedDict("DossierDeletion", {"from": "str", "to": "str", "requested": "int", "completed": "int", "failed": "int", "median_ms": "Optional[int]", "longest_ms": "Optional[int]", "statements": "List[str]"})


DossierConsent = TypedDict("DossierConsent", {"from": "str", "to": "str", "requested": "int", "accepted": "int", "revoked": "int", "statements": "List[str]"})


class DossierBackups(TypedDict):
    retention_days: int
    statements: List[str]


class OperatedBotList(TypedDict):
    bots: List[OperatedBotView]
    pagination: Pagination


class ForgottenView(TypedDict):
    request_id: str
    status: Literal["processing", "completed", "failed"]
    deleted_categories: Optional[List[str]]
    completed_at: Optional[str]
    certificate_salt: str
    notice: str


class ForgottenEverywhereView(TypedDict):
    user_id: str
    scope: Literal["all_guilds"]
    status: Literal["completed"]
    requests: List[ForgottenInGuildView]
    notice: str


class ForgottenInGuildView(TypedDict):
    request_id: str
    status: Literal["processing", "completed", "failed"]
    deleted_categories: Optional[List[str]]
    completed_at: Optional[str]
    certificate_salt: str
    notice: str
    guild_id: str


class ExportView(TypedDict):
    userId: str
    guildId: str
    exportedAt: str
    bot: ExportedBot
    consent: Optional[ExportedConsent]
    data: Dict[str, Dict[str, Any]]


class ExportedBot(TypedDict):
    id: str
    name: str


class ExportedConsent(TypedDict):
    status: str
    version: str
    acceptedAt: Optional[str]


class ExportAllGuildsView(TypedDict):
    userId: str
    exportedAt: str
    bot: ExportedBot
    guilds: List[ExportedGuild]


class ExportedGuild(TypedDict):
    guildId: str
    consent: Optional[ExportedConsent]
    data: Dict[str, Dict[str, Any]]


class HoldersView(TypedDict):
    holders: List[HolderView]
    pagination: Pagination


class TasksView(TypedDict):
    tasks: List[TaskView]
    pagination: WalkPagination


class _UserForgottenPayload(TypedDict):
    event: Literal["user_forgotten"]
    request_id: str
    user_id: str
    guild_id: str
    completed_at: str


class UserForgottenPayload(_UserForgottenPayload, total=False):
    notice: str


class _ConsentRevokedPayload(TypedDict):
    event: Literal["consent_revoked"]
    user_id: str
    guild_id: str
    revoked_at: str


class ConsentRevokedPayload(_ConsentRevokedPayload, total=False):
    previous_version: str


class DataCorrectedPayload(TypedDict):
    event: Literal["data_corrected"]
    user_id: str
    guild_id: str
    category: str
    fields: List[str]
    at: str


class HolderTaskPayload(TypedDict):
    event: Literal["holder_task"]
    holder: str
    task_id: str
    act: Literal["erase", "export"]
    request_id: str
    user_id: str
    guild_id: str
    created_at: str
    due_at: str


#: A user of the bot in a guild.
Subject = ConsentQuery
