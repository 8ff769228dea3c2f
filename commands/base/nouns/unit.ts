// The texts of `svc daemon unit`: a unit of systemd, and a compose file.
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Returns the folder of the program for a unit. For a folder in `releases`, returns the link
 * `current` beside `releases` if it leads there: an upgrade then moves the link, and the unit stays
 * unchanged.
 */
export function lastingHome(home: string): string {
  const releases = dirname(home);
  if (basename(releases) !== 'releases') return home;
  const link = join(dirname(releases), 'current');
  try {
    return realpathSync(link) === realpathSync(home) ? link : home;
  } catch {
    return home;
  }
}

export interface UnitPlaces {
  /** Folder of the program. */
  home: string;
  /** Absolute path of the configuration file. */
  config: string;
}

/** Returns a systemd unit that runs the daemon with few rights, as a dedicated user. */
export function systemdUnit({ home, config }: UnitPlaces): string {
  return `# Runs the daemon with few rights, as the user svc. It can write to /var/lib/svc only: docs/operations.md.
# Made by "svc daemon unit".
[Unit]
Description=svc, email delivery
After=network-online.target
Wants=network-online.target

[Service]
User=svc
EnvironmentFile=-${join(dirname(config), 'secrets.env')}
ExecStart=${join(home, 'bin/svc')} daemon --config ${config}
# A mistake in the configuration fails the reload: the daemon keeps the configuration in use.
ExecReload=${join(home, 'bin/svc')} config check --config ${config}
ExecReload=/bin/sh -c "kill -HUP $MAINPID"
Restart=always
RestartSec=2
# Exit code 2 is a mistake in the configuration, which no restart mends.
RestartPreventExitStatus=2
TimeoutStopSec=30
LimitNOFILE=65536
StateDirectory=svc
StateDirectoryMode=0700
UMask=0077
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=true
ProtectProc=invisible
ProtectClock=true
ProtectHostname=true
ProtectKernelLogs=true
ProtectKernelModules=true
ProtectKernelTunables=true
ProtectControlGroups=true
PrivateDevices=true
PrivateTmp=true
LockPersonality=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
RemoveIPC=true
SystemCallArchitectures=native
# V8 compiles at run time, so MemoryDenyWriteExecute cannot be set.
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
`;
}

/** Returns a compose file that builds and runs the image of the Dockerfile. */
export function composeFile({ home, config }: UnitPlaces): string {
  return `# Runs the daemon in a container with few rights. Made by "svc daemon unit --docker".
services:
  svc:
    build: ${home}
    restart: always
    stop_grace_period: 30s
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    ports:
      - "25:2525"
      - "127.0.0.1:4025:4025"
    volumes:
      - svc-data:/data
      - ${config}:/etc/svc/config.yaml:ro
volumes:
  svc-data:
`;
}
