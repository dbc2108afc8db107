export { AuditPeriods, DATA_ACTS, type DataAct, type Period, PeriodCounts } from './audit-period';
export { DistinctCount } from './distinct-count';
