export { CONSOLE_HEADERS, ConsoleFiles } from './console-files';
export { consoleGateway, ConsoleSessions } from './console-sessions';
export { ConsoleModule, PrivacyPageModule } from './pages.module';
export { escaped, Html, html } from './html';
export { PublicUrl } from './page-forms';
export { CONTROLLER_WORDS } from './page-controller.section';
export { PRIVACY_PAGES } from './page.controller';
export { PrivacyLinksRetention } from './privacy-links.holder';
export { PAGE_TEXTS, word } from './texts';
