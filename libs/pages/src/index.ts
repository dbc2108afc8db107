export { CONSOLE_HEADERS, ConsoleFiles } from './console-files';
export { consoleGateway, ConsoleSessions } from './console-sessions';
export {
  CONTROLLER_WORDS,
  declaredIn,
  givenFacts,
  type NamedFact,
  OBJECTION,
  recipientIn,
  safeguarded,
} from './controller-facts';
export { ConsoleModule, PrivacyPageModule } from './pages.module';
export { escaped, Html, html } from './html';
export { PublicUrl } from './page-forms';
export { languageSwitch } from './page-frame';
export { PRIVACY_PAGES } from './page.controller';
export { PrivacyLinksRetention } from './privacy-links.holder';
export { line, linked, mailTo, own, Said, said, textOf } from './said';
export { languageOf, PAGE_TEXTS, type PageLanguage, word } from './texts';
