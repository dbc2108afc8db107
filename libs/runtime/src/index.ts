export { Health } from './health';
export { LetheModule, type Parts } from './lethe.module';
export { isWildcard, listenFault, reachableUrl } from './listening';
export { Readiness } from './readiness';
export { SharedModule } from './shared.module';
export type { Application } from './shutdown';
export { startProcess } from './start-process';
export type { Terminal } from './terminal';
