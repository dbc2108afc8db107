import { realpathSync } from 'node:fs';

const FLAGS = '--max-semi-space-size=8 --initial-old-space-size=32';

const IN_CACHE = `This copy of Lethe is in the cache of npx, which npm may empty, so no unit can start it. Run
\`npm install @lethe/server\` in this folder; \`npx lethe-server unit\` then prints a systemd unit.
`;

/**
 * Writes a systemd unit that runs this installation in the folder, whose `.env` it reads. Answers the exit code: 1 for a
 * copy that will not last.
 */
export function writeUnit(folder: string): number {
  const launcher = realpathSync(process.argv[1] ?? '');
  if (launcher.includes('/_npx/')) {
    process.stderr.write(IN_CACHE);
    return 1;
  }
  process.stdout.write(systemdUnit(folder, launcher));
  return 0;
}

/** A path as systemd reads it back, which gives `%` a meaning of its own. */
function pathOf(path: string): string {
  return path.replaceAll('%', '%%');
}

/** A path as one of several words. */
function wordOf(path: string): string {
  return /^[\w./%@=+-]+$/.test(path) ? pathOf(path) : `"${pathOf(path).replace(/["\\]/g, '\\$&')}"`;
}

function systemdUnit(folder: string, launcher: string): string {
  return `[Unit]
Description=Lethe, a GDPR service for bots
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User=lethe
Group=lethe
WorkingDirectory=${pathOf(folder)}
Environment=NODE_ENV=production
ExecStart=${wordOf(process.execPath)} ${FLAGS} ${wordOf(launcher)} start
Restart=on-failure
RestartSec=2
TimeoutStopSec=40
ReadWritePaths=${wordOf(folder)}
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
