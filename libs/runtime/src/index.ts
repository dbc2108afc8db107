export * from './health';
export * from './lethe.module';
export * from './listening';
export * from './readiness';
export * from './shutdown';
export * from './start-process';
export * from './terminal';
