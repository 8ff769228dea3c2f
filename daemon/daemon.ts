// The composition root of the daemon. Starts the parts in order (store lock, inbound SMTP, queue,
// HTTP, submission), reports `ready`, and stops them in reverse order. Tests use it too.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Admission, admissionOf } from '../src/access/admission/admission.ts';
import { type Authenticator, createAuthenticator } from '../src/access/keys/authenticator.ts';
import { joinDoubt } from '../src/access/single-sign-on/join-doubt.ts';
import { campaignLoop } from '../src/campaigns/walk/loop.ts';
import { startStalledGauge } from '../src/campaigns/walk/stalled.ts';
import { createConfirmationLoop } from '../src/consent/opt-in/loop.ts';
import type { App } from '../src/core/app.ts';
import { startHeartbeat } from '../src/core/clock/heartbeat.ts';
import type { Config } from '../src/core/config/config.ts';
import { type ReloadedKeys, reloadConfig } from '../src/core/config/reload.ts';
import { watchRootKeys } from '../src/core/root-keys/root-keys.ts';
import { restoreFindings } from '../src/doctor/daily.ts';
import { leftBehindDoubt } from '../src/doctor/passkeys.ts';
import { personMailDoubt } from '../src/doctor/persons.ts';
import { mailIntakeOf } from '../src/inbox/receiving/mail-intake.ts';
import { createProjector } from '../src/inbox/receiving/projector.ts';
import { createThreadIndexer } from '../src/inbox/threads/indexer.ts';
import { createSearchFiller, type Surroundings } from '../src/outbound/messages/lists/search.ts';
import { createAttempter } from '../src/outbound/queue/attempting/attempter.ts';
import { openCarrierHere } from '../src/outbound/queue/carrier/carrier.ts';
import { createCarrierThread } from '../src/outbound/queue/carrier/carrier-thread.ts';
import { intakeOf } from '../src/outbound/queue/intake.ts';
import { startLaneReport } from '../src/outbound/queue/lanes/lane-report.ts';
import { createPipeline } from '../src/outbound/queue/loop.ts';
import { startQueueGauges } from '../src/outbound/queue/queue-gauges.ts';
import { createReportReader } from '../src/outbound/reports/reports.ts';
import { urlAt } from '../src/platform/net/network-address.ts';
import { addProcessMetrics } from '../src/platform/runtime/metrics.ts';
import { newToken } from '../src/platform/runtime/tokens.ts';
import { DatabaseClock } from '../src/platform/store/changes/database-clock.ts';
import { describeLocation, lockDaemon, storeLocation } from '../src/platform/store/open.ts';
import { createSealer } from '../src/receipts/sealer.ts';
import { createEraser } from '../src/service/erasing/eraser.ts';
import {
  announceFirstStart,
  firstStart,
  firstStartText,
  sandboxDoubt,
} from '../src/service/first-start.ts';
import { followSetBacks } from '../src/service/jobs/set-back.ts';
import { leaveRunningDaemon, storeIdOf } from '../src/service/store-id.ts';
import type { VirtualClock } from '../src/service/virtual-clock/virtual-clock.ts';
import { createWebhookLoop } from '../src/webhooks/posting/loop.ts';
import { type DrainableQueue, drainable } from './drainable-queue.ts';
import { eventKinds } from './http/event-kinds.ts';
import { measureLoopDelay, stallReporter } from './http/event-loop.ts';
import { limitsBy } from './http/rate-limits.ts';
import { routes } from './http/routes.ts';
import { createHttpServer } from './http/server.ts';
import { openWorkload, type Workload } from './http/workload.ts';
import { releaseMemoryAtRest } from './rest-memory.ts';
import { startJobs } from './scheduler/jobs.ts';
import { serviceJobs } from './scheduler/service-jobs.ts';
import { createSmtpListener } from './smtp/listener.ts';
import { createSubmissionListener } from './smtp/submission.ts';
import { startWords } from './start-words.ts';
import { type OnStop, stopsInReverse } from './stops.ts';
import type { ServeTracked } from './tracking/requests.ts';
import { serveLinks } from './tracking/serve.ts';
import { startTracking, type TrackingPorts } from './tracking/start.ts';

export interface DaemonOptions {
  /** File for the ready object as JSON; removed when the daemon stops. */
  readyFile?: string | undefined;
  /**
   * Prints the text of a first start, which has the only copy of the owner key. If left out, the
   * text goes to a file.
   */
  print?: ((text: string) => void) | undefined;
  /** The clock of the app, if it is virtual. */
  virtualClock?: VirtualClock | undefined;
  /** Answers links on tracking hosts; for tests. */
  serveTracked?: ServeTracked;
}

export interface Daemon {
  httpUrl: string;
  smtpPort: number;
  /** Null if `smtp.submission` is off. */
  submissionPort: number | null;
  /**
   * Ports of `tracking.http`, `tracking.https` and `tracking.acme.dns`; null for a disabled
   * listener.
   */
  trackingPorts: TrackingPorts;
  /**
   * Applies the reloadable keys of a valid configuration, and reads the files that it names again.
   */
  reload(next: Config): ReloadedKeys;
  /**
   * Stops delivering, and releases claimed mail. Requests and listeners continue until `close`, but
   * `/readyz` answers 503 from now on, so that a proxy leaves. Resolves once all attempts have
   * ended.
   */
  drain(): Promise<void>;
  /** Stops within `shutdownGraceSeconds`. Attempts in flight are finished or requeued. */
  close(): Promise<void>;
}

/**
 * Registers a function to run after a reload of the configuration. It reads the files of a part
 * again.
 */
type OnReload = (reload: () => void) => void;

/**
 * Starts all parts. The caller closes the app.
 * @throws UnreachableError if a second daemon holds the store, or an address is in use.
 */
export async function startDaemon(app: App, options: DaemonOptions = {}): Promise<Daemon> {
  const { onStop, close } = stopsInReverse(app);
  const reloads: (() => void)[] = [];
  const onReload: OnReload = (reload) => void reloads.push(reload);
  try {
    lockStore(app, onStop);
    if (app.clock instanceof DatabaseClock) onStop(app.clock.follow(app.store.db));
    onStop(
      watchRootKeys(app, (error) => app.log.error({ err: error }, 'root keys cannot be read')),
    );
    onStop(await startHeartbeat(app));
    onStop(followSetBacks(app));
    addProcessMetrics(app.metrics);
    await restoreFindings(app);
    const first = await firstStart(app);
    for (const doubt of [
      await sandboxDoubt(app),
      await leftBehindDoubt(app),
      await joinDoubt(app),
      await personMailDoubt(app),
    ]) {
      if (doubt !== null) app.log.warn(doubt);
    }
    // Starts before the queue: its heartbeats give this daemon a share of the providers' limits.
    const admission = await startAdmission(app, onStop);
    const smtpPort = await startSmtp(app, onStop, onReload);
    const pipeline = await startQueue(app, smtpPort, onStop, onReload);
    startReports(app, onStop);
    startConfirmations(app, onStop);
    await startProjector(app, onStop);
    await startWebhooks(app, onStop);
    const surroundings = { isPressing: pressingOf(app), isWorking: () => pipeline.load() > 0 };
    startLesserWork(app, surroundings, onStop);
    const authenticator = createAuthenticator(app);
    onStop(() => authenticator.close());
    const sealer = createSealer(app, pressingOf(app));
    sealer.start();
    onStop(() => sealer.stop());
    const jobs = await startJobs(app, serviceJobs(app, { authenticator, sealer, surroundings }));
    onStop((graceMs) => jobs.stop(graceMs));
    await startCampaigns(app, onStop);
    const loopDelay = measureLoopDelay();
    onStop(() => loopDelay.stop());
    const workload = openWorkload(app, loopDelay);
    const { virtualClock, serveTracked: serve = serveLinks } = options;
    const trackingPorts = await startTracking({ app, workload, serve }, onStop);
    const parts = { authenticator, admission, pipeline, virtualClock, workload };
    const httpUrl = await startHttp(app, parts, onStop);
    const submissionPort = await startSubmission(app, authenticator, onStop, onReload);
    const ready = {
      httpUrl,
      consoleUrl: app.config.console.enabled ? `${httpUrl}/console` : null,
      smtpPort,
      submissionPort,
      mode: app.config.delivery.mode,
      pid: process.pid,
    };
    await nameDaemon(app, httpUrl, onStop);
    if (options.readyFile) writeReadyFile(options.readyFile, ready, onStop);
    app.log.info(ready, 'ready');
    app.log.info(startWords(app.config, httpUrl));
    if (first) {
      const text = firstStartText(app.config, httpUrl, first.apiKey);
      announceFirstStart(app, text, options.print ?? null);
    }
    loopDelay.reportTo(stallReporter(app));
    const reload = (next: Config) => {
      const keys = reloadConfig(app.config, next);
      app.log.level = app.config.log.level;
      for (const one of reloads) {
        try {
          one();
        } catch (error) {
          app.log.error({ err: error }, 'a file of the reloaded configuration is not in use');
        }
      }
      return keys;
    };
    const drain = () => pipeline.drain(app.config.shutdownGraceSeconds * 1000);
    return { httpUrl, smtpPort, submissionPort, trackingPorts, reload, drain, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function lockStore({ config }: App, onStop: OnStop): void {
  const lock = lockDaemon(storeLocation(config.database.url, config.dataDir));
  onStop(() => lock.release());
}

/** Starts inbound SMTP. Returns the port. */
async function startSmtp(app: App, onStop: OnStop, onReload: OnReload): Promise<number> {
  const smtp = createSmtpListener(app);
  const { port } = await smtp.listen();
  onReload(() => smtp.reload());
  onStop((graceMs) => smtp.close(graceMs));
  return port;
}

/** Starts submission. Returns the port, or null if it is off. */
async function startSubmission(
  app: App,
  authenticator: Authenticator,
  onStop: OnStop,
  onReload: OnReload,
): Promise<number | null> {
  if (!app.config.smtp.submission.enabled) return null;
  const submission = createSubmissionListener(app, authenticator);
  const { port } = await submission.listen();
  onReload(() => submission.reload());
  onStop((graceMs) => submission.close(graceMs));
  return port;
}

/** Starts the queue. Mail for local mailboxes goes to our own listener. */
async function startQueue(
  app: App,
  smtpPort: number,
  onStop: OnStop,
  onReload: OnReload,
): Promise<DrainableQueue> {
  const listener = { host: app.config.smtp.inbound.host, port: smtpPort };
  // The carrier thread uses the system's clock, so with a virtual clock the carrier runs in this
  // thread.
  const openCarrier = app.clock.join ? openCarrierHere : createCarrierThread;
  const attempter = createAttempter(app, listener, openCarrier);
  onStop(() => attempter.close());
  onReload(() => attempter.reload());
  const worker = app.newId('worker');
  // Starts before the first claim and ends after the last claim: it gives the attempter a part of
  // the limits.
  onStop(startLaneReport(app, worker, attempter));
  const pipeline = createPipeline(app, { worker, ...attempter });
  await pipeline.start();
  const draining = drainable(pipeline);
  onStop((graceMs) => draining.drain(graceMs), true);
  onStop(startQueueGauges(app));
  return draining;
}

function startReports(app: App, onStop: OnStop): void {
  const reports = createReportReader(app);
  reports.start();
  onStop(() => reports.stop());
}

/** Starts the loop that mails contacts to confirm a group. */
function startConfirmations(app: App, onStop: OnStop): void {
  const loop = createConfirmationLoop(app);
  loop.start();
  onStop(() => loop.stop());
}

/** Starts the projector, which parses received mail soon after the SMTP reply 250. */
async function startProjector(app: App, onStop: OnStop): Promise<void> {
  const projector = createProjector(app);
  await projector.start();
  onStop(() => projector.stop());
}

/** Starts the posts to webhook endpoints. */
async function startWebhooks(app: App, onStop: OnStop): Promise<void> {
  const webhooks = createWebhookLoop(app, { isPressing: pressingOf(app) });
  await webhooks.start();
  onStop((graceMs) => webhooks.stop(graceMs));
}

/** Returns a function that tells whether a burst of sends or received mail is under way. */
function pressingOf(app: App): () => boolean {
  const intakes = [intakeOf(app), mailIntakeOf(app)];
  return () => intakes.some((intake) => intake.isPressing());
}

/** Starts the loop that sends campaign runs, and the gauge of stalled runs. */
async function startCampaigns(app: App, onStop: OnStop): Promise<void> {
  const campaigns = campaignLoop(app);
  await campaigns.start();
  // Stops early: the walk may take seconds, which the parts that stop later would lack.
  onStop(() => campaigns.stop(), true);
  onStop(startStalledGauge(app));
}

/** Starts background work; it yields to all foreground work. */
function startLesserWork(app: App, surroundings: Surroundings, onStop: OnStop): void {
  const indexer = createThreadIndexer(app, surroundings);
  indexer.start();
  onStop(() => indexer.stop());
  const eraser = createEraser(app);
  eraser.start();
  onStop(() => eraser.stop());
  const filler = createSearchFiller(app, surroundings);
  filler.start();
  onStop(() => filler.stop());
  const isBusy = () => surroundings.isWorking() || surroundings.isPressing();
  onStop(releaseMemoryAtRest({ clock: app.clock, isBusy }));
}

async function startAdmission(app: App, onStop: OnStop): Promise<Admission> {
  const admission = admissionOf(app);
  await admission.start();
  onStop(() => admission.stop());
  return admission;
}

/** Starts HTTP. Returns the URL, which is also the base of links in mail. */
async function startHttp(
  app: App,
  parts: {
    authenticator: Authenticator;
    admission: Admission;
    pipeline: DrainableQueue;
    virtualClock: VirtualClock | undefined;
    workload: Workload;
  },
  onStop: OnStop,
): Promise<string> {
  const { authenticator, admission, pipeline, virtualClock, workload } = parts;
  const clockToken = newToken(app.random);
  const http = createHttpServer(app, {
    routes,
    eventKinds,
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    sessions: authenticator,
    ...limitsBy(admission),
    isQueueRunning: pipeline.isRunning,
    isDraining: pipeline.isDraining,
    workload,
    ...(virtualClock && { virtualClock: { clock: virtualClock.clock, token: clockToken } }),
  });
  const { url } = await http.listen();
  onStop((graceMs) => http.close(graceMs));
  if (virtualClock) {
    virtualClock.publish({
      url: urlAt(app.config.http.host, Number(new URL(url).port)),
      token: clockToken,
    });
    onStop(() => virtualClock.close());
  }
  if (app.config.http.publicUrl === null) app.publicUrl.current = url;
  return url;
}

/** Writes URL and process to the data directory, where commands find the daemon. */
async function nameDaemon({ config, store }: App, url: string, onStop: OnStop): Promise<void> {
  const place = describeLocation(storeLocation(config.database.url, config.dataDir));
  const storeId = await storeIdOf(store.db);
  onStop(leaveRunningDaemon(config.dataDir, { url, store: place, storeId }));
}

/** Renames a complete file into place: a waiting program reads the file as soon as it appears. */
function writeReadyFile(file: string, ready: object, onStop: OnStop): void {
  writeFileSync(`${file}.partial`, `${JSON.stringify({ msg: 'ready', ...ready })}\n`);
  renameSync(`${file}.partial`, file);
  onStop(() => rmSync(file, { force: true }));
}
