export { Health, Readiness } from './health';
export { LetheModule, SharedModule } from './lethe.module';
export { isWildcard, listenFault, reachableUrl } from './listening';
export { type Application, startProcess } from './start-process';
