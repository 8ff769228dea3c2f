// The configuration file that `svc init --production` writes: the keys that a server on the
// Internet needs, each with a reason.
import { stringify } from 'yaml';
import { configKeys } from './keys.ts';

/** Answers to the questions of `svc init --production`. */
export interface ProductionAnswers {
  /** Absolute path of the data directory. */
  dataDir: string;
  /** Public name of the machine. */
  hostname: string;
  publicUrl: string;
  mode: 'direct' | 'relay' | 'capture';
  /** Host of the smarthost in mode `relay`; null otherwise. */
  relayHost: string | null;
}

const head = `# The configuration of a server, written by "svc init --production".
# "svc config example" shows all keys, "svc config check" finds mistakes.`;

/** Returns the text of the configuration file. */
export function productionConfig(answers: ProductionAnswers): string {
  const { dataDir, hostname, publicUrl, mode, relayHost } = answers;
  const relay = relayHost === null ? [] : [line('delivery.relay.host', relayHost, 2)];
  const lines = [
    head,
    line('dataDir', dataDir, 0),
    'http:',
    line('http.publicUrl', publicUrl, 1),
    'smtp:',
    '  inbound:',
    line('smtp.inbound.host', '0.0.0.0', 2),
    line('smtp.inbound.port', 25, 2),
    'delivery:',
    line('delivery.mode', mode, 1),
    line('delivery.hostname', hostname, 1),
    ...(relay.length > 0 ? ['  relay:', ...relay] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns a line with a key, below a comment with the reason. */
function line(path: string, value: string | number, depth: number): string {
  const indent = '  '.repeat(depth);
  const reason = configKeys.find((key) => key.path === path)?.reason;
  const name = path.slice(path.lastIndexOf('.') + 1);
  return `${indent}# ${reason}\n${indent}${name}: ${stringify(value).trimEnd()}`;
}
