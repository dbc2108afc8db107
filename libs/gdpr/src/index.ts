export { GdprModule } from './gdpr.module';
