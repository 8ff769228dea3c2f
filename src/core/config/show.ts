// The configuration in readable form: `svc config show` and config.example.yaml (`svc config
// example`). Both use the list of keys; neither shows a secret.
import { stringify } from 'yaml';
import { type LoadedConfig, valueAt } from './config.ts';
import { type ConfigKey, type ConfigSection, configKeys, configTree } from './keys.ts';
import { secretKeys } from './schema.ts';

const hidden = '***';

/** A key in the output of `svc config show --origin`. */
export interface ConfigRow {
  key: string;
  value: unknown;
  origin: string;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutPassword(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  const shown = new URL(url);
  if (shown.password) shown.password = hidden;
  if (shown.searchParams.has('password')) shown.searchParams.set('password', hidden);
  return shown.href;
}

function withoutSecret(path: string, value: unknown): unknown {
  if (path.startsWith('database.')) return value === null ? null : withoutPassword(String(value));
  if (!Array.isArray(value)) return value === null ? null : hidden;
  return value.map((entry: unknown) =>
    isMap(entry) && entry.password ? { ...entry, password: hidden } : entry,
  );
}

/** Returns every key with value and origin; `***` replaces secrets. */
export function describeConfig({ config, origin }: LoadedConfig): ConfigRow[] {
  return configKeys.map(({ path }) => {
    const value = valueAt(config, path);
    return {
      key: path,
      value: secretKeys.includes(path) ? withoutSecret(path, value) : value,
      origin: origin.get(path) ?? 'default',
    };
  });
}

const head = `# The configuration of svc: every key with its default. Copy the keys to change to config.yaml.
# svc looks for that file in this order: --config FILE, $SVC_CONFIG, ./config.yaml,
# $XDG_CONFIG_HOME/svc/config.yaml, /etc/svc/config.yaml. Without a file these defaults hold.
# Every key can be set by an environment variable too, which wins: http.port is SVC_HTTP_PORT,
# smtp.inbound.tls.certFile is SVC_SMTP_INBOUND_TLS_CERT_FILE; lists and maps are given as JSON.
# A secret can come from a file: SVC_DELIVERY_RELAY_PASSWORD_FILE=/run/secrets/relay.
# Made by \`svc config example\`.`;

function inYaml(value: unknown): string {
  const flow = typeof value === 'object' && value !== null;
  const options = { collectionStyle: flow ? 'flow' : 'any', lineWidth: 0 } as const;
  return stringify(value, { ...options, flowCollectionPadding: false }).trimEnd();
}

function keyLines({ path, defaultValue, reason }: ConfigKey): string[] {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const comment = `# ${reason}`;
  const entries = isMap(defaultValue) ? Object.entries(defaultValue) : [];
  if (entries.length === 0) return [comment, `${name}: ${inYaml(defaultValue)}`];
  return [comment, `${name}:`, ...entries.map(([key, entry]) => `  ${key}: ${inYaml(entry)}`)];
}

function sectionLines(section: ConfigSection): string[] {
  const gap = section.path === '' ? [''] : [];
  return section.entries.flatMap((entry) => {
    if (!('entries' in entry)) return [...gap, ...keyLines(entry)];
    const name = entry.path.slice(entry.path.lastIndexOf('.') + 1);
    const inner = sectionLines(entry).map((line) => `  ${line}`);
    return [...gap, `# ${entry.reason}`, `${name}:`, ...inner];
  });
}

/** Returns the text of config.example.yaml: every key with the default and a one-line reason. */
export function configExample(): string {
  return `${[head, ...sectionLines(configTree)].join('\n')}\n`;
}
