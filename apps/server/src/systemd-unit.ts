import { realpathSync } from 'node:fs';
import { isOfNpx } from '@app/kernel';

const launcherPath = (): string => realpathSync(process.argv[1] ?? '');

const OF_NPX = `# This program is in the cache of npx, where it does not stay. Install it in the folder (npm install @lethe/server), and
# print the unit again: npx @lethe/server unit
`;

/** A path for systemd, where `%` begins a specifier. */
const literal = (path: string): string => path.replaceAll('%', '%%');

/** A path for systemd where a blank ends a word, and quotes enclose one. */
const word = (path: string): string =>
  /[\s"'\\]/.test(path) ? `"${literal(path).replace(/["\\]/g, '\\$&')}"` : literal(path);

/** A systemd unit that runs this installation in the folder, whose `.env` it reads. */
export function systemdUnit(folder: string): string {
  // In arguments `$` begins a variable.
  const launcher = word(launcherPath()).replaceAll('$', () => '$$');
  return `${isOfNpx() ? OF_NPX : ''}[Unit]
Description=Lethe, a GDPR service for bots
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User=lethe
Group=lethe
WorkingDirectory=${literal(folder)}
Environment=NODE_ENV=production
ExecStart=${word(process.execPath)} --max-semi-space-size=8 --initial-old-space-size=32 ${launcher} start
Restart=on-failure
RestartSec=2
TimeoutStopSec=40
ReadWritePaths=${word(folder)}
UMask=0077
NoNewPrivileges=true
ProtectSystem=strict
PrivateTmp=true
PrivateDevices=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectControlGroups=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=true
LockPersonality=true
CapabilityBoundingSet=

[Install]
WantedBy=multi-user.target
`;
}
