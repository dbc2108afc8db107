import { JOB_NAMES } from './job-names';

/** One metric: its name, its meaning, and every value of its label. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  /** A closed list: a value from a caller can never become a label. */
  readonly label?: { readonly name: string; readonly values: readonly string[] };
  /** The labels of a metric that no module feeds. The code that makes their values bounds them. */
  readonly labels?: readonly string[];
  /** The upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

/**
 * Every metric of Lethe. The table of docs/operate.md is made from this list, and a test compares the dashboard and the
 * alerts with it.
 */
export const METRICS = {
  up: {
    type: 'gauge',
    name: 'lethe_up',
    help: '1 while the process takes requests, 0 while it starts or shuts down',
  },
  logDropped: {
    type: 'counter',
    name: 'lethe_log_lines_dropped_total',
    help: 'Lines of the log that were dropped, since its reader is too slow or its disk is full',
  },
  jobFailures: {
    type: 'counter',
    name: 'lethe_job_failures_total',
    help: 'Runs of a job that failed, for one bot or as a whole; the log has the fault',
    label: { name: 'job_name', values: JOB_NAMES },
  },
  httpRequests: {
    type: 'counter',
    name: 'lethe_http_requests_total',
    help: 'Requests that were answered, by method, declared route and status; the route of an unknown path is unknown',
    labels: ['method', 'route', 'status'],
  },
  httpDuration: {
    type: 'histogram',
    name: 'lethe_http_request_duration_seconds',
    help: 'Time from reading a request to its answer, by method and declared route',
    labels: ['method', 'route'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  },
  httpConnections: {
    type: 'gauge',
    name: 'lethe_http_connections',
    help: 'Open connections of callers, idle ones too',
  },
  eventLoopDelay: {
    type: 'gauge',
    name: 'lethe_event_loop_delay_seconds',
    help: 'Delay of the event loop between two scrapes: median, 99th percentile, longest',
    label: { name: 'statistic', values: ['p50', 'p99', 'max'] },
  },
  diskFree: {
    type: 'gauge',
    name: 'lethe_database_disk_free_bytes',
    help: 'Room that is left on the disk of a SQLite file, beside the ballast',
  },
  databaseCommitUnits: {
    type: 'histogram',
    name: 'lethe_database_commit_units',
    help: 'Units of work that shared one commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  },
  databaseCommitDuration: {
    type: 'histogram',
    name: 'lethe_database_commit_duration_seconds',
    help: 'Time that one commit took to become durable',
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 0.5, 2.5],
  },
  databaseUnitsWaiting: {
    type: 'gauge',
    name: 'lethe_database_units_waiting',
    help: 'Writing units of work that wait for their turn',
  },
  databaseUnitsRetried: {
    type: 'counter',
    name: 'lethe_database_units_retried_total',
    help: 'Units of work that collided with another one and were repeated, by reason',
    label: { name: 'reason', values: ['serialization_failure', 'deadlock_detected', 'concurrent_change'] },
  },
  databasePoolConnections: {
    type: 'gauge',
    name: 'lethe_database_pool_connections',
    help: 'Open connections to PostgreSQL',
  },
  databasePoolMax: {
    type: 'gauge',
    name: 'lethe_database_pool_connections_max',
    help: 'Connections to PostgreSQL that the process may open',
  },
  databasePoolIdle: {
    type: 'gauge',
    name: 'lethe_database_pool_connections_idle',
    help: 'Open connections to PostgreSQL that are idle',
  },
  databasePoolWaiting: {
    type: 'gauge',
    name: 'lethe_database_pool_waiting',
    help: 'Units of work that wait for a connection to PostgreSQL',
  },
  erasures: {
    type: 'counter',
    name: 'lethe_erasures_total',
    help: 'Erasures by outcome; resumed ones were interrupted by a crash or an unreachable database',
    label: { name: 'state', values: ['begun', 'completed', 'failed', 'resumed'] },
  },
  erasuresProcessing: {
    type: 'gauge',
    name: 'lethe_erasures_processing',
    help: 'Erasures on record that are neither completed nor failed, counted to 10,000',
  },
  erasureOldestAge: {
    type: 'gauge',
    name: 'lethe_erasure_oldest_processing_age_seconds',
    help: 'Age of the oldest erasure that is neither completed nor failed, 0 for none',
  },
  erasureRecoverableAge: {
    type: 'gauge',
    name: 'lethe_erasure_oldest_recoverable_age_seconds',
    help: 'Age of the oldest completed erasure whose key may still be in the files of PostgreSQL, 0 for none',
  },
  retention: {
    type: 'counter',
    name: 'lethe_retention_erased_total',
    help: 'Erased by retention: values by retention_days and after a revocation, guilds after their grace period, old records',
    label: { name: 'reason', values: ['retention', 'consent_revoked', 'guild_left', 'evidence'] },
  },
  auditSealed: {
    type: 'counter',
    name: 'lethe_audit_events_sealed_total',
    help: 'Events of the audit log that were sealed',
  },
  auditSealingAge: {
    type: 'gauge',
    name: 'lethe_audit_sealing_oldest_wait_seconds',
    help: 'Age of the oldest audit log that waits to be sealed by this process, 0 for none',
  },
  auditSealingFailures: {
    type: 'counter',
    name: 'lethe_audit_sealing_failures_total',
    help: 'Attempts to seal a log that failed; it is tried again within a minute',
  },
  webhookAttempts: {
    type: 'counter',
    name: 'lethe_webhook_attempts_total',
    help: 'Webhook calls by outcome',
    label: {
      name: 'outcome',
      values: [
        'confirmed',
        'gone',
        'refused',
        'redirected',
        'timed_out',
        'not_connected_in_time',
        'connection_failed',
        'tls_failed',
        'name_not_found',
        'blocked_address',
        'invalid_answer',
        'answer_too_large',
        'interrupted',
      ],
    },
  },
  webhookDeliveries: {
    type: 'counter',
    name: 'lethe_webhook_deliveries_total',
    help: 'Webhook deliveries that have ended, pings aside, by status',
    label: { name: 'status', values: ['delivered', 'exhausted', 'gone'] },
  },
  webhookCalls: {
    type: 'gauge',
    name: 'lethe_webhook_calls_under_way',
    help: 'Webhook calls of this process that wait for an answer',
  },
  outboxDepth: {
    type: 'gauge',
    name: 'lethe_webhook_outbox_deliveries',
    help: 'Webhook deliveries that wait for an attempt, counted to 5,000, by whether the last call to their receiver failed, or their bot is suspended',
    label: { name: 'receiver', values: ['healthy', 'failing', 'suspended'] },
  },
  outboxOldestAge: {
    type: 'gauge',
    name: 'lethe_webhook_outbox_oldest_due_age_seconds',
    help: 'How long the oldest of them has been due, of a working receiver since its last confirmation, 0 for none; calls to failing receivers and of suspended bots wait on purpose',
    label: { name: 'receiver', values: ['healthy', 'failing', 'suspended'] },
  },
  degraded: {
    type: 'gauge',
    name: 'lethe_degraded',
    help: '1 for a part that runs worse than configured; rate_limit_local: the process counts rates alone, since Redis does not answer; database_damaged: a statement has met a damaged page; disk_low: the disk of the database is full or almost full; clock_step: the clock of the machine was set; erasure_unfinished: an erasure is older than a minute; other: one that /health/ready names, as key_file_missing or log_failing',
    label: {
      name: 'condition',
      values: [
        'rate_limit_local',
        'database_damaged',
        'disk_low',
        'clock_step',
        'erasure_unfinished',
        'other',
      ],
    },
  },
  gaugeFailures: {
    type: 'counter',
    name: 'lethe_metrics_failures_total',
    help: 'Numbers left out of an answer of /metrics, since reading them failed or took too long',
  },
  cpu: {
    type: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, of user and system',
    labels: [],
  },
  residentMemory: {
    type: 'gauge',
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process',
  },
  heapUsed: { type: 'gauge', name: 'nodejs_heap_size_used_bytes', help: 'Used heap of JavaScript' },
  externalMemory: {
    type: 'gauge',
    name: 'nodejs_external_memory_bytes',
    help: 'Memory outside the heap that JavaScript objects hold',
  },
  startTime: {
    type: 'gauge',
    name: 'process_start_time_seconds',
    help: 'Unix time at which the process started',
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
