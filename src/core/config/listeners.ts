// The listeners that a configuration asks for. Opens none of them.
import type { Config } from './schema.ts';

interface ConfiguredListener {
  /** Dotted path of the key with the port. */
  path: string;
  host: string;
  /** Port of the listener. 0: the system chooses a port; null: the listener is off. */
  port: number | null;
}

/** Lists the listeners, without a submission listener that is off. */
export function listenersOf({
  http,
  smtp,
  tracking,
}: Pick<Config, 'http' | 'smtp' | 'tracking'>): ConfiguredListener[] {
  const { inbound, submission } = smtp;
  const listener = (path: string, { host, port }: { host: string; port: number | null }) => {
    return { path, host, port };
  };
  return [
    listener('http.port', http),
    listener('smtp.inbound.port', inbound),
    ...(submission.enabled ? [listener('smtp.submission.port', submission)] : []),
    listener('tracking.http.port', tracking.http),
    listener('tracking.https.port', tracking.https),
    listener('tracking.acme.dns.port', tracking.acme.dns),
  ];
}
