export { escaped } from './html';
export { PRIVACY_PAGES } from './page.controller';
export { PrivacyLinksRetention } from './privacy-links.holder';
export { PrivacyPageModule } from './privacy-page.module';
