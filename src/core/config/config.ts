// Loads the configuration from several layers: defaults, then the file, then SVC_ variables of the
// environment, then overrides of a command or test. Validates the merged values together and keeps
// the origin of every value. schema.ts has the keys, file.ts reads the file.
import { resolve } from 'node:path';
import { ConfigError } from '../../platform/errors.ts';
import type { Contradiction } from './contradiction.ts';
import {
  type ConfigFile,
  type Environment,
  findConfigFile,
  readSecretFile,
  usualPlaces,
} from './file.ts';
import {
  type ConfigKey,
  type ConfigSection,
  configKeys,
  configTree,
  findKeyHolding,
} from './keys.ts';
import { findNearest } from './nearest.ts';
import { describeIssue, findContradictions, findDoubts, isLogin, type Locate } from './problems.ts';
import { builtInPlans, type Config, type ConfigInput, configSchema, secretKeys } from './schema.ts';
import { secretsBeside } from './secrets-env.ts';

export type { Config, ConfigInput } from './schema.ts';

interface LoadRequest {
  /** The value of `--config`, relative to `cwd`. */
  file?: string | undefined;
  env: Environment;
  cwd: string;
  /** Overrides defaults, file and environment; for flags of a command and for tests. */
  overrides?: ConfigInput;
  /**
   * Accepts missing secrets, and a user name without a password, for commands that only use the
   * store.
   */
  withoutSecrets?: boolean;
}

export interface LoadedConfig {
  config: Config;
  /** Origin of each key: `default`, `config.yaml:3`, `env SVC_HTTP_PORT` or `override`. */
  origin: ReadonlyMap<string, string>;
  /** Absolute path of the file that was read; null without a file. */
  file: string | null;
  /** Places where a file is looked for, as absolute paths in order of precedence. */
  usualPlaces: readonly string[];
  /** Warnings, a line each. */
  warnings: string[];
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a dotted path; undefined if absent. */
export function valueAt(tree: unknown, path: string): unknown {
  let value = tree;
  for (const name of path.split('.')) value = isTree(value) ? value[name] : undefined;
  return value;
}

/** Sets the value at a dotted path. Leaves a section that is not a map for validation to report. */
export function setAt(tree: Tree, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  tree[name] ??= {};
  const inner = tree[name];
  if (isTree(inner)) setAt(inner, rest.join('.'), value);
}

/** Replaces null by an empty section: YAML reads `http:` with nothing below it as null. */
function fillEmptySections(tree: Tree, section: ConfigSection): void {
  for (const entry of section.entries) {
    if (!('entries' in entry)) continue;
    if (valueAt(tree, entry.path) === null) setAt(tree, entry.path, {});
    fillEmptySections(tree, entry);
  }
}

/** Merges given plans into the built-in plans, so that a single limit can be changed. */
function mergePlans(given: unknown): unknown {
  if (!isTree(given)) return given;
  const builtIn: Tree = builtInPlans;
  const merged = Object.entries(given).map(([name, limits]) => {
    const base = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
    return [name, isTree(base) && isTree(limits) ? { ...base, ...limits } : limits] as const;
  });
  return { ...builtIn, ...Object.fromEntries(merged) };
}

function originOf(file: ConfigFile | null, path: string): string {
  const position = file?.locate(path.split('.'), true);
  return position?.complete ? `${file?.shownAs}:${position.line}` : 'default';
}

/** Merges the layers. `origin` names the last layer that set each key. */
function mergeLayers(
  file: ConfigFile | null,
  settings: ReturnType<typeof readEnvironment>['settings'],
  overrides: ConfigInput,
): { tree: Tree; origin: Map<string, string> } {
  const tree: Tree = file?.values ?? {};
  const origin = new Map(configKeys.map(({ path }) => [path, originOf(file, path)]));
  fillEmptySections(tree, configTree);
  for (const { key, value, variable } of settings) {
    setAt(tree, key.path, value);
    origin.set(key.path, `env ${variable}`);
  }
  for (const { path } of configKeys) {
    const value = valueAt(overrides, path);
    if (value === undefined) continue;
    setAt(tree, path, value);
    origin.set(path, 'override');
  }
  if (tree.plans !== undefined) tree.plans = mergePlans(tree.plans);
  return { tree, origin };
}

function locator(file: ConfigFile | null, origin: ReadonlyMap<string, string>): Locate {
  return (path, ofKey) => {
    const source = origin.get(findKeyHolding(path.join('.'))?.path ?? '');
    if (source === 'override') return source;
    if (source?.startsWith('env ')) return source.slice('env '.length);
    const { line, col } = file?.locate(path, ofKey) ?? { line: 1, col: 1 };
    return `${file?.path ?? 'configuration'}:${line}:${col}`;
  };
}

function showFound(value: unknown): string {
  const isPlain = typeof value !== 'object' && value !== undefined;
  if (isPlain) return String(value);
  return Object.keys(value ?? {}).length === 0 ? 'nothing' : JSON.stringify(value);
}

function contradictionLines(
  config: Config,
  found: readonly Contradiction[],
  file: ConfigFile | null,
  origin: ReadonlyMap<string, string>,
): string[] {
  const locate = locator(file, origin);
  return found.map(({ path, because, text }) => {
    const set = [path, because].find((at) => {
      const source = origin.get(findKeyHolding(at)?.path ?? '') ?? 'default';
      return /^(env |override)/.test(source) || file?.locate(at.split('.')).complete;
    });
    const where = locate((set ?? path).split('.'));
    return `${where}: ${path}: found ${showFound(valueAt(config, path))}, ${text}`;
  });
}

function withAbsolutePaths(config: Config, cwd: string): Config {
  const { inbound, submission } = config.smtp;
  const absolute = <Tls extends typeof inbound.tls>(tls: Tls): Tls => ({
    ...tls,
    certFile: tls.certFile && resolve(cwd, tls.certFile),
    keyFile: tls.keyFile && resolve(cwd, tls.keyFile),
  });
  const { providersFile } = config.delivery;
  const { ssl } = config.database;
  return {
    ...config,
    dataDir: resolve(cwd, config.dataDir),
    secret: { ...config.secret, file: config.secret.file && resolve(cwd, config.secret.file) },
    database: {
      ...config.database,
      ssl: { ...ssl, caFile: ssl.caFile && resolve(cwd, ssl.caFile) },
    },
    delivery: { ...config.delivery, providersFile: providersFile && resolve(cwd, providersFile) },
    smtp: {
      inbound: { ...inbound, tls: absolute(inbound.tls) },
      submission: { ...submission, tls: absolute(submission.tls) },
    },
  };
}

/**
 * Loads the configuration of this process. Reads a file, the given environment, `secrets.env`
 * beside the file, and files that `SVC_…_FILE` variables name.
 * @throws ConfigError with a line per mistake: place, key, found and expected value
 */
export function loadConfig(request: LoadRequest): LoadedConfig {
  const { file, env, cwd, overrides = {}, withoutSecrets = false } = request;
  const configFile = findConfigFile(file, env, cwd);
  const beside = secretsBeside(configFile?.path ?? null, env);
  const given = { ...env, ...beside };
  const { settings, problems } = readEnvironment({ env: given, cwd, withoutSecrets });
  const { tree, origin } = mergeLayers(configFile, settings, overrides);
  const parsed = configSchema.safeParse(tree, { reportInput: true });
  const locate = locator(configFile, origin);
  for (const issue of parsed.error?.issues ?? []) problems.push(...describeIssue(issue, locate));
  const found = parsed.data ? findContradictions(parsed.data) : [];
  const counting = found.filter(({ path }) => !(withoutSecrets && isLogin(path)));
  if (parsed.data) problems.push(...contradictionLines(parsed.data, counting, configFile, origin));
  if (!parsed.data || problems.length > 0) throw new ConfigError(problems.join('\n'));
  return {
    config: withAbsolutePaths(parsed.data, cwd),
    origin,
    file: configFile?.path ?? null,
    usualPlaces: usualPlaces(env, cwd),
    warnings: findDoubts(parsed.data),
  };
}

/** Variables read by the launcher and the commands. */
const otherVariables: readonly string[] = [
  ...['SVC_CONFIG', 'SVC_ORG', 'SVC_API_KEY', 'SVC_SERVER'],
];

const numberPattern = /^-?\d+(\.\d+)?$/;

/**
 * Parses the text of a variable. Keeps text that does not fit the key's type, so that validation
 * states the expected value.
 */
function readValue(key: ConfigKey, text: string): unknown {
  if (key.nullable && text === 'null') return null;
  if (key.form === 'text') return text;
  if (key.form === 'number') return numberPattern.test(text) ? Number(text) : text;
  if (key.form === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Setting {
  key: ConfigKey;
  value: unknown;
  /** Name of the variable: `SVC_HTTP_PORT`; for a secret possibly `SVC_…_FILE`. */
  variable: string;
}

interface EnvironmentRequest {
  env: Environment;
  cwd: string;
  withoutSecrets: boolean;
}

/**
 * Returns the variable that names a file with the value; undefined for a key that is not secret.
 */
function fileVariableOf({ path, variable }: ConfigKey): string | undefined {
  return secretKeys.includes(path) ? `${variable}_FILE` : undefined;
}

function unknownVariable(name: string): string {
  const nearest = findNearest(name, [...configKeys.map((key) => key.variable), ...otherVariables]);
  return `${name}: no key has this variable${nearest ? `; did you mean ${nearest}?` : ''}`;
}

/**
 * Returns the keys set by the environment, and a line for each unknown SVC_ variable. An empty
 * variable counts as unset; `null` is the null of a nullable key. A secret may come from the file
 * named by `SVC_…_FILE`.
 */
function readEnvironment({ env, cwd, withoutSecrets }: EnvironmentRequest): {
  settings: Setting[];
  problems: string[];
} {
  const settings: Setting[] = [];
  const problems: string[] = [];
  for (const key of configKeys) {
    const { variable } = key;
    const text = env[variable];
    if (text) settings.push({ key, value: readValue(key, text), variable });
    const fileVariable = fileVariableOf(key);
    const path = fileVariable && env[fileVariable];
    if (!path) continue;
    if (text) {
      problems.push(`${fileVariable}: ${variable} is set too: set only one of them`);
      continue;
    }
    const read = readSecretFile(resolve(cwd, path));
    if ('text' in read) {
      settings.push({ key, value: readValue(key, read.text), variable: fileVariable });
    } else if (!withoutSecrets || /^(database|secret)\./.test(key.path)) {
      problems.push(`${fileVariable}: ${path}: ${read.problem}`);
    }
  }
  const fileVariables = configKeys.flatMap((key) => fileVariableOf(key) ?? []);
  const keyVariables = configKeys.map((key) => key.variable);
  const known = new Set([...keyVariables, ...fileVariables, ...otherVariables]);
  const unknown = Object.keys(env).filter((name) => name.startsWith('SVC_') && !known.has(name));
  return { settings, problems: [...problems, ...unknown.map(unknownVariable)] };
}
