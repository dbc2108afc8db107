import { Bots1763600000001 } from './1763600000001-bots';
import { Categories1763600000002 } from './1763600000002-categories';
import { Consents1763600000003 } from './1763600000003-consents';
import { UserData1763600000004 } from './1763600000004-user-data';
import { Audit1763600000005 } from './1763600000005-audit';
import { Deletions1763600000006 } from './1763600000006-deletions';
import { Webhooks1763600000007 } from './1763600000007-webhooks';
import { ManyProcesses1763600000008 } from './1763600000008-many-processes';
import { ListsAtSize1763600000009 } from './1763600000009-lists-at-size';
import { UrlChanges1763600000010 } from './1763600000010-url-changes';
import { Keys1763600000011 } from './1763600000011-keys';
import { AuditSealing1763600000012 } from './1763600000012-audit-sealing';
import { ConsentEvidence1763600000013 } from './1763600000013-consent-evidence';
import { Retention1763600000014 } from './1763600000014-retention';
import { GuildsOfAUser1763600000015 } from './1763600000015-guilds-of-a-user';

/** Lethe's schema, in the order in which it grew. */
export const LETHE_MIGRATIONS = [
  Bots1763600000001,
  Categories1763600000002,
  Consents1763600000003,
  UserData1763600000004,
  Audit1763600000005,
  Deletions1763600000006,
  Webhooks1763600000007,
  ManyProcesses1763600000008,
  ListsAtSize1763600000009,
  UrlChanges1763600000010,
  Keys1763600000011,
  AuditSealing1763600000012,
  ConsentEvidence1763600000013,
  Retention1763600000014,
  GuildsOfAUser1763600000015,
];
