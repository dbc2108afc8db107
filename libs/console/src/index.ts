export { CONSOLE_HEADERS, ConsoleFiles } from './console-files';
export { consoleGateway } from './console-gateway';
export { ConsoleSessions } from './console-sessions';
export { ConsoleModule } from './console.module';
