export { Health } from './health';
export { LetheModule, SharedModule } from './lethe.module';
export { type Application, listenFault, startProcess } from './start-process';
