export { circumstancesOf } from './circumstances';
export { conditionsOf } from './conditions';
export { type Circumstances, type Finding, findingsOf } from './findings';
export { NODE_END_OF_LIFE } from './findings.exposure';
export { type Installation, InstallationReading } from './installation';
export { OperatedBots } from './operated-bots.service';
export { OperatorModule } from './operator.module';
export { StorageSample } from './storage-sample.entity';
export { StorageSampling } from './storage-sample.job';
