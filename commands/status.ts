// `svc status`: the service on a single screen. --wait is for supervisors: Dockerfile, scripts.
import { Flags } from '@oclif/core';
import type { JobStatus } from '../src/service/jobs/jobs.ts';
import type { ServiceStatus } from '../src/service/status.ts';
import { BaseCommand } from './base/command.ts';
import { timeoutFlag, timeoutFrom } from './base/input/timeout.ts';
import { keptAlive } from './base/keep-alive.ts';
import { countsLine } from './base/mail/queue.ts';
import { ExpectationError } from './base/output/failure.ts';
import { print } from './base/output/output.ts';
import { readStoreConfig, withApp } from './base/session.ts';

const pauseMs = 200;

async function statusText(status: ServiceStatus): Promise<string> {
  const { plainText } = await import('./base/output/format.ts');
  const { daemon, mode, store, storeId, earlierSchema, lastBackup } = status;
  const isForeign = storeId !== null && daemon.storeId !== null && daemon.storeId !== storeId;
  const { queue, domains, endpoints, jobs, findings, unreachedRelays } = status;
  const unread = 'cannot be read in this schema';
  const lines: [string, string][] = [
    ['daemon', daemon.isReady ? `ready at ${daemon.url}` : `not ready: ${daemon.problem}`],
    ...(isForeign ? [['', foreignWords(daemon.storeId)] as [string, string]] : []),
    ...(daemon.version === null ? [] : [versionLine(daemon)]),
    ['mode', mode],
    ['store', earlierSchema === null ? store : `${store} ${earlierSchema}`],
    ['queue', queue ? countsLine(queue.counts, queue.countedUpTo) : unread],
    ...(unreachedRelays ?? []).map(({ relay, since }): [string, string] => [
      'warn',
      `the smarthost ${relay} has not been reached since ${since}`,
    ]),
    ['domains', domains ? domainsLine(domains) : unread],
    ['webhooks', endpoints ? `${endpoints.active} active, ${endpoints.failing} failing` : unread],
    ['jobs', jobs ? jobsLine(jobs) : unread],
    ...failedJobs(jobs ?? []),
    ['backup', lastBackup ? `${lastBackup.at} to ${lastBackup.file}` : 'none yet: svc backup'],
    ...(findings ?? []).map((one): [string, string] => [one.status, `${one.name}: ${one.found}`]),
  ];
  return lines.map(([name, text]) => `${name.padEnd(9)} ${plainText(text)}`).join('\n');
}

function foreignWords(storeId: string | null): string {
  return `it works on a different store: ${storeId}`;
}

/** Returns label and text of the line. Shortens the commit to 10 characters. */
function versionLine({ version, commit }: ServiceStatus['daemon']): [string, string] {
  return ['version', commit === null ? `${version}` : `${version}, commit ${commit.slice(0, 10)}`];
}

function domainsLine(domains: Record<string, number>): string {
  const counts = Object.entries(domains).map(([name, count]) => `${count} ${name}`);
  return counts.join(', ') || 'none yet: svc domains add';
}

function jobsLine(jobs: readonly JobStatus[]): string {
  const running = jobs.filter(({ isRunning }) => isRunning).map(({ name }) => name);
  const next = jobs.toSorted((a, b) => (a.nextAt < b.nextAt ? -1 : 1))[0];
  if (!next) return 'none yet: svc daemon';
  const now = running.length > 0 ? `, running: ${running.join(', ')}` : '';
  return `${jobs.length} scheduled${now}, next ${next.name} at ${next.nextAt}`;
}

function failedJobs(jobs: readonly JobStatus[]): [string, string][] {
  return jobs
    .filter(({ lastError }) => lastError !== null)
    .map(({ name, lastError }) => ['', `${name} failed: ${lastError}`]);
}

export default class Status extends BaseCommand {
  static override summary = 'Show the service on one screen';

  static override description =
    'The daemon, the queue, the domains, and what the last daily check found ("svc doctor" checks now). Ends ' +
    'with exit code 7 if the daemon is not ready. With --wait it waits for that, and ends with 8 at the time-out.';

  static override examples = [
    { description: 'Show the service', command: 'svc status' },
    { description: 'Wait until the daemon is ready', command: 'svc status --wait --timeout 30s' },
  ];

  static override flags = {
    wait: Flags.boolean({ description: 'Wait until the daemon is ready' }),
    timeout: timeoutFlag('10s', ['wait']),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Status);
    const timeoutMs = timeoutFrom(flags.timeout ?? '10s') ?? Number.POSITIVE_INFINITY;
    const { config } = await readStoreConfig(flags);
    const { readiness, serviceStatus } = await import('../src/service/status.ts');
    const { sleep, systemClock } = await import('../src/platform/runtime/clock.ts');
    const endsAt = systemClock.elapsed() + timeoutMs;
    const daemon = await keptAlive(async () => {
      for (;;) {
        const found = await readiness(config);
        const isOver = !flags.wait || systemClock.elapsed() >= endsAt;
        if (found.isReady || isOver) return found;
        await sleep(systemClock, pauseMs);
      }
    });
    if (flags.wait && !daemon.isReady) {
      throw new ExpectationError(`the daemon is not ready: ${daemon.problem}`);
    }
    const status = await withApp(flags, (app) => serviceStatus(app, daemon), {
      readsEarlier: true,
    });
    await print(flags, status, () => statusText(status));
    if (!daemon.isReady) {
      const { UnreachableError } = await import('../src/platform/errors.ts');
      throw new UnreachableError(`The daemon is not ready: ${daemon.problem}`);
    }
  }
}
