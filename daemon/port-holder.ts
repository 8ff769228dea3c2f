// Explains why an address cannot be listened on: the setting behind it, and the process that holds
// it if the system reveals that (Linux, for processes that we may inspect).
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from '../src/platform/errors.ts';

/**
 * Connections that the system keeps until the event loop accepts them, at most `somaxconn` of the
 * system. With Node's 511, a burst within a single turn of the loop made the system drop the
 * connections of all other clients, which tried again after 1, 3, 7 and 15 seconds.
 */
export const acceptBacklog = 4096;

const listening = '0A';

/** Returns the inodes of the sockets that listen on a port, for IPv4 and IPv6. */
function socketsOn(port: number): Set<string> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/net/${name}`, 'utf8').split('\n').slice(1),
  );
  const rows = lines.map((line) => line.trim().split(/\s+/));
  const held = rows.filter(([, local, , state]) => {
    return state === listening && local?.endsWith(`:${hexPort}`);
  });
  return new Set(held.map((fields) => `socket:[${fields[9]}]`));
}

function holds(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((name) => sockets.has(readlinkSync(`${folder}/${name}`)));
  } catch {
    // The process belongs to a different user, or has ended.
    return false;
  }
}

/**
 * Returns the program that listens on the port, as `name, pid 12`; null if the system does not
 * reveal it.
 */
function findHolder(port: number): string | null {
  try {
    const sockets = socketsOn(port);
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const pid = sockets.size > 0 ? pids.find((each) => holds(each, sockets)) : undefined;
    if (pid === undefined) return null;
    return `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}, pid ${pid}`;
  } catch {
    return null;
  }
}

/**
 * Returns the text for an unavailable address; `section` of the configuration has the `host` and
 * `port`.
 */
export function whyNotListening(
  error: unknown,
  { host, port, section }: { host: string; port: number; section: string },
): string {
  const code = codeOf(error);
  const at = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    const holder = findHolder(port);
    const who = holder === null ? '' : ` (${holder})`;
    return `${at}: another program listens there${who}. Stop it, or set ${section}.port`;
  }
  if (code === 'EACCES') {
    return `${at}: not permitted. Ports below 1024 need CAP_NET_BIND_SERVICE; or set ${section}.port`;
  }
  return `${at}: ${code || String(error)}. Check ${section}.host and ${section}.port`;
}
