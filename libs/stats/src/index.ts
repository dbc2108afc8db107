export { quantile, stepOf } from './duration-steps';
export { StatCount } from './stat-count.entity';
export { StatsModule } from './stats.module';
export { StatsRetention } from './stats-retention.job';
export { StatsService } from './stats.service';
