// The composition root of the long-running service: starts the faces in order (store lock, inbound
// SMTP, queue, HTTP), says `ready`, and stops them in the opposite order. Tests use it too.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { admissionOf } from '../src/admission/admission.ts';
import { sweepBuckets } from '../src/admission/shared-buckets.ts';
import type { App } from '../src/app.ts';
import { checkDueDomains } from '../src/domains/domain-checks.ts';
import { checkSecret } from '../src/domains/signing-keys.ts';
import { firstStart, firstStartText } from '../src/first-start.ts';
import { createReportReader } from '../src/inbound/reports.ts';
import { createAuthenticator } from '../src/keys/authenticator.ts';
import { addProcessMetrics } from '../src/metrics.ts';
import { sweepClaims } from '../src/outbound/accept/send.ts';
import { createAttempter } from '../src/outbound/attempt.ts';
import { createCarrierThread } from '../src/outbound/carrier/carrier-thread.ts';
import { startLaneReport } from '../src/outbound/lanes/lane-report.ts';
import { createPipeline } from '../src/outbound/pipeline.ts';
import { lockDaemon, storeLocation } from '../src/store/open.ts';
import { sweepHealth } from '../src/usage/health.ts';
import { measureLoopDelay } from './http/event-loop.ts';
import { limitsBy } from './http/rate-limits.ts';
import { routes } from './http/routes.ts';
import { createHttpServer } from './http/server.ts';
import { startJobs } from './scheduler/jobs.ts';
import { createSmtpListener } from './smtp/listener.ts';

export interface DaemonOptions {
  /** Where the ready object is written as JSON, removed again at the stop. */
  readyFile?: string | undefined;
  /** Prints the text of a first start: it holds the only copy of the owner key. */
  announce?: (text: string) => void;
}

export interface Daemon {
  httpUrl: string;
  smtpPort: number;
  /** Stops within `shutdownGraceSeconds`; what is in flight is finished or handed back. */
  close(): Promise<void>;
}

/**
 * Starts all faces. The app stays the caller's to close.
 * @throws UnreachableError when another daemon holds the store, or an address is in use.
 */
export async function startDaemon(app: App, options: DaemonOptions = {}): Promise<Daemon> {
  const { config } = app;
  const stops: ((graceMs: number) => unknown)[] = [];
  /** One grace for all: what one face uses up, the next does not have. */
  const close = async () => {
    const endAt = app.clock.elapsed() + config.shutdownGraceSeconds * 1000;
    for (const stop of stops.splice(0).reverse()) {
      try {
        await stop(Math.max(0, endAt - app.clock.elapsed()));
      } catch (error) {
        app.log.error({ err: error }, 'a part of the daemon did not stop in order');
      }
    }
  };
  try {
    const lock = lockDaemon(storeLocation(config.database.url, config.dataDir));
    stops.push(() => lock.release());
    addProcessMetrics(app.metrics);
    await checkSecret(app);
    const first = await firstStart(app);

    const smtp = createSmtpListener(app);
    const { port: smtpPort } = await smtp.listen();
    stops.push((graceMs) => smtp.close(graceMs));

    const listener = { host: config.smtp.inbound.host, port: smtpPort };
    const attempter = createAttempter(app, listener, createCarrierThread);
    stops.push(() => attempter.close());
    const worker = app.newId('worker');
    const pipeline = createPipeline(app, { worker, ...attempter });
    await pipeline.start();
    stops.push((graceMs) => pipeline.stop(graceMs));
    stops.push(startLaneReport(app, worker, attempter.choice.lanes));

    const reports = createReportReader(app);
    reports.start();
    stops.push(() => reports.stop());

    const authenticator = createAuthenticator(app);
    stops.push(() => authenticator.close());
    stops.push(
      startJobs(app, [
        { name: 'flush key use', pattern: '* * * * *', run: () => authenticator.flushLastUsed() },
        { name: 'check domains', pattern: '* * * * *', run: () => checkDueDomains(app) },
        { name: 'sweep idempotency claims', pattern: '17 * * * *', run: () => sweepClaims(app) },
        { name: 'sweep rate limits', pattern: '47 * * * *', run: () => sweepBuckets(app) },
        { name: 'sweep health counters', pattern: '37 3 * * *', run: () => sweepHealth(app) },
      ]),
    );

    const admission = admissionOf(app);
    await admission.start();
    stops.push(() => admission.stop());

    const loopDelay = measureLoopDelay();
    stops.push(() => loopDelay.stop());
    const http = createHttpServer(app, {
      routes,
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      ...limitsBy(admission),
      isQueueRunning: () => pipeline.isRunning(),
      loopDelay,
    });
    const { url: httpUrl } = await http.listen();
    stops.push((graceMs) => http.close(graceMs));
    if (config.http.publicUrl === null) app.publicUrl.current = httpUrl;

    const ready = { httpUrl, smtpPort, mode: config.delivery.mode, pid: process.pid };
    const { readyFile } = options;
    if (readyFile) {
      // Whole or not there: whoever waits for the file reads it at once.
      writeFileSync(`${readyFile}.partial`, `${JSON.stringify({ msg: 'ready', ...ready })}\n`);
      renameSync(`${readyFile}.partial`, readyFile);
      stops.push(() => rmSync(readyFile, { force: true }));
    }
    app.log.info(ready, 'ready');
    if (first) options.announce?.(firstStartText(httpUrl, first.apiKey));
    return { httpUrl, smtpPort, close };
  } catch (error) {
    await close();
    throw error;
  }
}
