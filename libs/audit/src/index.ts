export { areCountsExact, CountedGuilds, lowerCounts } from './audit-counts';
export { AuditModule } from './audit.module';
export { AuditService } from './audit.service';
export { UnsealedBots } from './unsealed-bots';
