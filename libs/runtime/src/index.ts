export { Health, Readiness } from './health';
export { LetheModule, SharedModule } from './lethe.module';
export { type Application, isWildcard, listenFault, reachableUrl, startProcess } from './start-process';
