// The state of the service for `svc status`: the daemon over HTTP, the rest from the store.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { App } from '../core/app.ts';
import type { Config } from '../core/config/config.ts';
import { type FindingRow, selectFindings } from '../doctor/queries.ts';
import { countDomains } from '../identity/domains/queries.ts';
import { unreachedRelays } from '../outbound/queue/desk/unreached-relays.ts';
import { type QueueSnapshot, queueSnapshot } from '../outbound/queue/lanes/lane-report.ts';
import { messageOf } from '../platform/errors.ts';
import { urlAt } from '../platform/net/network-address.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { earlierSchemaOf } from '../platform/store/migrate.ts';
import { describeLocation, storeLocation } from '../platform/store/open.ts';
import { unlessEarlier } from '../platform/store/rows/unless-earlier.ts';
import { readLastBackup } from '../platform/upkeep/last-backup.ts';
import { countEndpoints } from '../webhooks/endpoints/queries.ts';
import { type JobStatus, listJobs } from './jobs/jobs.ts';
import { findRunningDaemon, storeIdOf } from './store-id.ts';

const patienceMs = 2_000;

/** Whether a daemon answers, and is ready. */
export interface Readiness {
  url: string;
  isReady: boolean;
  /** Reason why the daemon is not ready; null if it is. */
  problem: string | null;
  /** Process, version and commit; null if unknown. An earlier version names no commit. */
  pid: number | null;
  version: string | null;
  commit: string | null;
  /** Identity of the daemon's store. */
  storeId: string | null;
}

/** State of the service. Parts that a store of an earlier schema lacks are null. */
export interface ServiceStatus {
  daemon: Readiness;
  mode: Config['delivery']['mode'];
  publicUrl: string | null;
  store: string;
  /** Identity of the store; null before its first start. */
  storeId: string | null;
  /** Difference of an earlier schema from the schema of this version; null for a current schema. */
  earlierSchema: string | null;
  queue: Pick<QueueSnapshot, 'counts' | 'countedUpTo'> | null;
  /** Smarthosts that have not been reached for three hours, and since when. */
  unreachedRelays: { relay: string; since: string }[] | null;
  /** Sending domains of all organizations by status. */
  domains: Record<string, number> | null;
  /** Webhook endpoints of all organizations. */
  endpoints: { active: number; failing: number } | null;
  /** Findings of the last daily examination that need work. */
  findings: Pick<FindingRow, 'name' | 'status' | 'found'>[] | null;
  /** Scheduled jobs by name. */
  jobs: JobStatus[] | null;
  lastBackup: { at: string; file: string } | null;
}

type Place = Pick<Config, 'http' | 'dataDir'>;

/**
 * Returns address and pid of the daemon that runs on this data directory. If none runs, returns the
 * configured address, at which a different daemon may answer; null for port 0.
 */
export async function addressOf({
  http,
  dataDir,
}: Place): Promise<{ url: string; pid: number | null } | null> {
  const running = await findRunningDaemon(dataDir, async (url) => (await readinessAt(url)).pid);
  if (running) return running;
  return http.port === 0 ? null : { url: urlAt(http.host, http.port), pid: null };
}

/** Asks the daemon of this configuration whether it is ready. Never rejects. */
export async function readiness(place: Place): Promise<Readiness> {
  const address = await addressOf(place);
  const { dataDir, http } = place;
  if (!address) {
    const problem = `no daemon of ${dataDir} runs, and http.port 0 names no address`;
    return { url: urlAt(http.host, http.port), isReady: false, problem, ...nameless };
  }
  const found = await readinessAt(address.url);
  if (address.pid === null || found.pid === null || found.pid === address.pid) return found;
  const problem = `${address.url} is the address of process ${found.pid}, the daemon of ${dataDir} is process ${address.pid}`;
  return { ...found, isReady: false, problem };
}

/** Asks the daemon at an address. Never rejects. */
export function readinessAt(url: string): Promise<Readiness> {
  return new Promise((resolve) => {
    const no = (problem: string, named = nameless) =>
      resolve({ url, isReady: false, problem, ...named });
    const asked = request(`${url}/readyz?verbose`, { timeout: patienceMs });
    asked.once('response', async (response) => {
      const named = namedIn(await text(response).catch(() => ''));
      if (response.statusCode === 200) resolve({ url, isReady: true, problem: null, ...named });
      else no(`${url}/readyz answers ${response.statusCode}`, named);
    });
    asked.once('timeout', () => asked.destroy(new Error(`no answer in ${patienceMs / 1000} s`)));
    asked.once('error', (error) => no(`${url}: ${messageOf(error)}`));
    asked.end();
  });
}

type Named = Pick<Readiness, 'pid' | 'version' | 'commit' | 'storeId'>;

const nameless: Named = { pid: null, version: null, commit: null, storeId: null };

/** Returns process, version, commit and store that `/readyz?verbose` answers. */
function namedIn(answer: string): Named {
  try {
    const { pid = null, version = null, commit = null, storeId = null } = JSON.parse(answer);
    return { pid, version, commit, storeId };
  } catch {
    return nameless;
  }
}

/** Gathers the state of the service. On a store of an earlier schema some parts may be null. */
export async function serviceStatus(app: App, daemon: Readiness): Promise<ServiceStatus> {
  const { config, store } = app;
  const read = <T>(part: () => Promise<T>) => unlessEarlier(store.db, part);
  const [storeId, earlierSchema, queue, relays, domains, endpoints, findings, jobs] =
    await Promise.all([
      read(() => storeIdOf(store.db)),
      earlierSchemaOf(store.db),
      read(() => queueSnapshot(app)),
      read(() => unreachedRelays(app)),
      read(() => countDomains(store.db)),
      read(() => countEndpoints(store.db)),
      read(() => selectFindings(store.db)),
      read(() => listJobs(store.db, app.clock.now())),
    ]);
  const last = readLastBackup(config.dataDir);
  return {
    daemon,
    mode: config.delivery.mode,
    publicUrl: config.http.publicUrl,
    store: describeLocation(storeLocation(config.database.url, config.dataDir)),
    storeId,
    earlierSchema,
    queue: queue && { counts: queue.counts, countedUpTo: queue.countedUpTo },
    unreachedRelays: relays?.map(({ relay, since }) => ({ relay, since: isoTime(since) })) ?? null,
    domains:
      domains && Object.fromEntries(domains.map(({ status, count }) => [status, Number(count)])),
    endpoints,
    findings:
      findings
        ?.filter(({ status }) => status === 'warn' || status === 'fail')
        .map(({ name, status, found }) => ({ name, status, found })) ?? null,
    jobs,
    lastBackup: last && { at: isoTime(last.at), file: last.file },
  };
}
