// The settings of connections to PostgreSQL: URL, TLS and types of values.
import { hostname } from 'node:os';
import pg from 'pg';
import { UnreachableError } from '../../errors.ts';
import { readNamedFile } from '../../runtime/held-files.ts';
import { reasonOf } from './errors.ts';

const connectionSettings = {
  // Shown in pg_stat_activity, and in the error of a process that waits for this process.
  fallback_application_name: `svc/${process.pid}@${hostname()}`,
  connectionTimeoutMillis: 5_000,
  // After the initial delay, libuv probes each second: a server that vanished is noticed within 20
  // s.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};

const int8 = 20;

const types: pg.CustomTypesConfig = {
  // Counts and times fit a double. By default pg returns every bigint as text.
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The database of a store, as the configuration names it. A SQLite file needs only the URL. */
export interface DatabaseSettings {
  url: string;
  /** Most connections of this process. Default 12. */
  poolSize?: number;
  ssl?: {
    mode: 'url' | 'disable' | 'require' | 'verify-full';
    /** Certificates (PEM) that `verify-full` trusts. */
    caFile: string | null;
  };
  /** Time after which the server ends a statement. Null: the server's default. */
  statementTimeoutSeconds?: number | null;
  /** Direct URL for LISTEN, if `url` is the URL of a pooler such as PgBouncer. */
  listenUrl?: string | null;
}

/**
 * Returns the settings of a connection: URL, TLS and types. @throws UnreachableError for an
 * unreadable `caFile`
 */
export function clientSettings(url: string, { ssl }: DatabaseSettings): pg.ClientConfig {
  const settings: pg.ClientConfig = { ...connectionSettings, connectionString: url, types };
  if (!ssl || ssl.mode === 'url') return settings;
  const plain = new URL(url);
  // TLS parameters in the URL would override these settings, so they are removed.
  for (const name of [...plain.searchParams.keys()]) {
    if (name.startsWith('ssl')) plain.searchParams.delete(name);
  }
  const isVerified = ssl.mode === 'verify-full';
  return {
    ...settings,
    connectionString: plain.href,
    ssl: ssl.mode !== 'disable' && {
      rejectUnauthorized: isVerified,
      ...(isVerified && ssl.caFile !== null && { ca: readCertificates(ssl.caFile) }),
    },
  };
}

function readCertificates(file: string): string {
  try {
    return readNamedFile(file).toString('utf8');
  } catch (error) {
    throw new UnreachableError(
      `database.ssl.caFile cannot be read (${reasonOf(error)}): name a PEM file that this account may read`,
      { cause: error },
    );
  }
}
