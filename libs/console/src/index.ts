export { CONSOLE_HEADERS, ConsoleFiles } from './console-files';
export { consoleGateway, ConsoleSessions } from './console-sessions';
export { ConsoleModule } from './console.module';
