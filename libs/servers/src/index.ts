export {
  BOTS_WITH_DELETIONS,
  countDeletions,
  guildsDue,
  postponeDeletions,
  ServersService,
} from './servers.service';
export { ServersModule } from './servers.module';
