// `svc daemon`. daemon/daemon.ts has the parts and their order.
import { Flags } from '@oclif/core';
import type { Daemon as RunningDaemon } from '../daemon/daemon.ts';
import type { Config } from '../src/core/config/config.ts';
import { ConfigError, messageOf } from '../src/platform/errors.ts';
import { isoTime, systemClock } from '../src/platform/runtime/clock.ts';
import type { Logger } from '../src/platform/runtime/log.ts';
import type { VirtualClock } from '../src/service/virtual-clock/virtual-clock.ts';
import { refuseDaemonOfRoot } from './base/account/account.ts';
import { BaseCommand, type CommonFlags } from './base/command.ts';
import { timeAhead } from './base/input/since.ts';
import { UsageError } from './base/output/failure.ts';
import { writeLine } from './base/output/output.ts';
import { asUnreachable, readConfig } from './base/session.ts';
import { firstStopSignal, onDrain, onHangUp } from './base/signals.ts';

/** Time in addition to shutdownGraceSeconds, for steps after the last attempt has ended. */
const closingMs = 5_000;

interface ClockFlags {
  clock: string;
  at: string | undefined;
  'allow-network': boolean;
}

/**
 * Opens the virtual clock of the flags; undefined for the system's clock. @throws UsageError,
 * ConfigError
 */
async function virtualClockOf(
  config: Config,
  { clock, at, 'allow-network': allowNetwork }: ClockFlags,
): Promise<VirtualClock | undefined> {
  const { openVirtualClock, refuseVirtualStore } = await import(
    '../src/service/virtual-clock/virtual-clock.ts'
  );
  if (clock === 'virtual') {
    const start = timeAhead('--at', at, systemClock.now());
    const startMs = start === undefined ? undefined : Date.parse(start);
    return openVirtualClock(config, { at: startMs, allowNetwork });
  }
  const flag = at === undefined ? allowNetwork && '--allow-network' : '--at';
  if (flag) throw new UsageError(`${flag}: needs --clock virtual`);
  refuseVirtualStore(config);
  return undefined;
}

export default class Daemon extends BaseCommand {
  static override summary = 'Run the service: HTTP, SMTP, the queue and its jobs';

  static override description =
    'Logs to standard error, and logs "ready" once all ports listen. SIGTERM or SIGINT ' +
    'stops it in order within shutdownGraceSeconds; a second signal stops it at once. ' +
    'Accepted mail is never lost. SIGHUP reloads log, plans, delivery.allow, ' +
    'delivery.providersFile and TLS files, and logs the changed keys that need a restart. ' +
    '"svc daemon drain" takes it out of service first. ' +
    'With --clock virtual, for tests, time stands still until "svc dev clock" moves it.';

  static override examples = [
    { description: 'Run with the defaults, data in ./data', command: 'svc daemon' },
    {
      description: 'Run under a supervisor',
      command: 'svc daemon --config /etc/svc/config.yaml --ready-file /run/svc/ready.json',
    },
    {
      description: 'Run with a clock that a test moves',
      command: 'svc daemon --clock virtual --at 2026-03-02T09:00:00Z',
    },
  ];

  static override flags = {
    'ready-file': Flags.string({
      description: 'JSON file to write once all ports listen; removed at the stop',
      helpValue: 'FILE',
    }),
    clock: Flags.string({
      description: 'Source of time; a virtual clock stands still until it is moved',
      options: ['system', 'virtual'],
      default: 'system',
    }),
    at: Flags.string({
      description: 'Start of the virtual clock (default: where the store stopped, or now)',
      helpValue: 'ISO',
    }),
    'allow-network': Flags.boolean({
      description: 'Allow a virtual clock while mail leaves this machine',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Daemon);
    const stopSignal = firstStopSignal();
    const hangUp = onHangUp();
    const drained = onDrain();
    const { config, warnings, file } = await readConfig(flags, { staysRoot: true });
    refuseDaemonOfRoot(config.dataDir, file);
    const [{ openService }, { createLogger, logFatal }, { startDaemon }] = await Promise.all([
      import('../src/service/service.ts'),
      import('../src/platform/runtime/log.ts'),
      import('../daemon/daemon.ts'),
    ]);
    const pretty = process.stderr.isTTY && !flags.json;
    const log = await createLogger({ level: config.log.level, pretty });
    for (const warning of warnings) log.warn(warning);
    // An uncaught fault leaves an unknown state. The process ends, and the next start recovers.
    process.on('uncaughtException', (error) => {
      logFatal(log, error);
      process.exit(1);
    });
    const fail = (error: unknown) => {
      throw asUnreachable(error);
    };
    // Log lines are written in the background. Without a flush they would be lost at a refused
    // start, or appear after the reason.
    const flushed = () => new Promise((resolve) => log.flush(resolve));
    const virtualClock = await virtualClockOf(config, flags);
    const overrides = virtualClock && { clock: virtualClock.clock };
    const app = await openService(config, log, overrides).catch(async (error: unknown) => {
      await flushed();
      return fail(error);
    });
    if (virtualClock) log.warn({ now: isoTime(app.clock.now()) }, 'time stands still');
    try {
      const readyFile = flags['ready-file'];
      const print = process.stdout.isTTY ? writeLine : undefined;
      const daemon = await startDaemon(app, { readyFile, print, virtualClock }).catch(fail);
      let reloading = Promise.resolve();
      hangUp.call(() => {
        reloading = reloading.then(() => this.#reload(flags, daemon, log));
      });
      drained.call(() => {
        log.info('draining: no more mail is carried here, and /readyz says 503');
        void daemon.drain().then(() => log.info('drained'));
      });
      const signal = await stopSignal;
      log.info({ signal }, 'stopping');
      const latest = setTimeout(
        () => {
          log.fatal('could not stop in time');
          process.exit(1);
        },
        config.shutdownGraceSeconds * 1000 + closingMs,
      );
      latest.unref();
      await daemon.close();
    } finally {
      await app.close();
      await flushed();
    }
    log.info('stopped');
    await flushed();
    // Ends the process even if a library still holds a handle.
    process.exit(0);
  }

  /** Reads the configuration again. If it has a mistake, logs the mistake and changes nothing. */
  async #reload(flags: CommonFlags, daemon: RunningDaemon, log: Logger): Promise<void> {
    try {
      const loaded = await readConfig(flags, { staysRoot: true });
      const { checkFiles } = await import('../src/core/config/check-files.ts');
      const found = checkFiles(loaded, systemClock.now());
      if (found.problems.length > 0) throw new ConfigError(found.problems.join('\n'));
      for (const warning of [...loaded.warnings, ...found.warnings]) log.warn(warning);
      const keys = daemon.reload(loaded.config);
      const level = keys.needRestart.length > 0 ? 'warn' : 'info';
      log[level](keys, 'the configuration was reloaded');
    } catch (error) {
      const facts = error instanceof ConfigError ? {} : { err: error };
      log.error(facts, `the configuration was not reloaded: ${messageOf(error)}`);
    }
  }
}
