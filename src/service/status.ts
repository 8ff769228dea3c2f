// The state of the service for `svc status`: the daemon over HTTP, the rest from the store.
import { request } from 'node:http';
import type { App } from '../core/app.ts';
import type { Config } from '../core/config/config.ts';
import { countDomains } from '../identity/domains/queries.ts';
import { type QueueSnapshot, queueSnapshot } from '../outbound/queue/lanes/lane-report.ts';
import { messageOf } from '../platform/errors.ts';
import { urlAt } from '../platform/net/network-address.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { describeLocation, storeLocation } from '../platform/store/open.ts';
import { readLastBackup } from '../platform/upkeep/last-backup.ts';
import { countEndpoints } from '../webhooks/queries.ts';
import { type FindingRow, selectFindings } from './doctor/queries.ts';
import { type JobStatus, listJobs } from './jobs/jobs.ts';

const patienceMs = 2_000;

/** Whether a daemon answers, and is ready. */
export interface Readiness {
  url: string;
  isReady: boolean;
  /** Null if it is ready. */
  problem: string | null;
}

export interface ServiceStatus {
  daemon: Readiness;
  mode: Config['delivery']['mode'];
  publicUrl: string | null;
  store: string;
  queue: Pick<QueueSnapshot, 'counts' | 'countedUpTo'>;
  /** Sending domains of all organizations by status. */
  domains: Record<string, number>;
  /** Webhook endpoints of all organizations. */
  endpoints: { active: number; failing: number };
  /** Findings of the last daily examination that need work. */
  findings: Pick<FindingRow, 'name' | 'status' | 'found'>[];
  /** Scheduled jobs by name. */
  jobs: JobStatus[];
  lastBackup: { at: string; file: string } | null;
}

/** Asks the daemon of this configuration whether it is ready. Never rejects. */
export function readiness({ http }: Pick<Config, 'http'>): Promise<Readiness> {
  const { host, port } = http;
  const url = urlAt(host, port);
  return new Promise((resolve) => {
    const no = (problem: string) => resolve({ url, isReady: false, problem });
    const asked = request(`${url}/readyz`, { timeout: patienceMs });
    asked.once('response', (response) => {
      response.resume();
      if (response.statusCode === 200) resolve({ url, isReady: true, problem: null });
      else no(`${url}/readyz answers ${response.statusCode}`);
    });
    asked.once('timeout', () => asked.destroy(new Error(`no answer in ${patienceMs / 1000} s`)));
    asked.once('error', (error) => no(`${url}: ${messageOf(error)}`));
    asked.end();
  });
}

/** Gathers the state of the service. */
export async function serviceStatus(app: App, daemon: Readiness): Promise<ServiceStatus> {
  const { config, store } = app;
  const [{ counts, countedUpTo }, domains, endpoints, findings, jobs] = await Promise.all([
    queueSnapshot(app),
    countDomains(store.db),
    countEndpoints(store.db),
    selectFindings(store.db),
    listJobs(store.db, app.clock.now()),
  ]);
  const last = readLastBackup(config.dataDir);
  return {
    daemon,
    mode: config.delivery.mode,
    publicUrl: config.http.publicUrl,
    store: describeLocation(storeLocation(config.database.url, config.dataDir)),
    queue: { counts, countedUpTo },
    domains: Object.fromEntries(domains.map(({ status, count }) => [status, Number(count)])),
    endpoints,
    findings: findings
      .filter(({ status }) => status === 'warn' || status === 'fail')
      .map(({ name, status, found }) => ({ name, status, found })),
    jobs,
    lastBackup: last && { at: isoTime(last.at), file: last.file },
  };
}
