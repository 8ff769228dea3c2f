// `svc daemon drain`. The daemon's part: `drain` in daemon/daemon.ts.
import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import type { Config } from '../../src/core/config/config.ts';
import { ConflictError, codeOf, UnreachableError } from '../../src/platform/errors.ts';
import { isFileNamed, readNamedFile } from '../../src/platform/runtime/held-files.ts';
import { BaseCommand } from '../base/command.ts';
import { keptAlive } from '../base/keep-alive.ts';
import { ExpectationError, UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { readStoreConfig } from '../base/session.ts';
import { drainSignal } from '../base/signals.ts';

const pauseMs = 100;
const askMs = 2_000;

/** A daemon of this machine. */
interface Target {
  pid: number;
  url: string;
}

interface Readiness {
  pid?: unknown;
  draining?: unknown;
}

export default class DaemonDrain extends BaseCommand {
  static override summary = 'Pass the work of a daemon to the others, before its stop';

  static override description =
    'The daemon of this machine carries no more mail and hands claimed mail back. /readyz says 503, so that a proxy ' +
    'leaves it, while its ports still answer. Ends once no mail is under way, within shutdownGraceSeconds. Then stop ' +
    'the daemon by SIGTERM. Only a restart takes a drain back. On PostgreSQL it needs --ready-file.';

  static override examples = [
    {
      description: 'Pass its work on before an upgrade',
      command: 'svc daemon drain --ready-file /run/svc/ready.json',
    },
  ];

  static override flags = {
    'ready-file': Flags.string({
      description: 'The --ready-file of the daemon (default: the daemon of the SQLite store)',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonDrain);
    const { config } = await readStoreConfig(flags);
    const target = await targetOf(config, flags['ready-file']);
    const before = await readinessOf(target);
    if (typeof before.draining !== 'boolean') {
      throw new ConflictError(
        'daemon',
        `The daemon at ${target.url} is of a version without a drain: stop it by SIGTERM`,
      );
    }
    // A killed daemon leaves a ready file. The pid in it may now belong to a new process.
    if (before.pid !== target.pid) {
      throw new ConflictError(
        'daemon',
        `The daemon at ${target.url} is not the process ${target.pid}: name its own file with --ready-file`,
      );
    }
    signalDrain(target.pid);
    await keptAlive(() => untilDrained(target, config.shutdownGraceSeconds * 1_000));
    const message = `Drained the daemon at ${target.url} (pid ${target.pid})`;
    await print(
      flags,
      { success: true, message, ...target },
      () => `${message}.\nNext: stop it by SIGTERM, once your proxy has left it.`,
    );
  }
}

async function targetOf(config: Config, readyFile: string | undefined): Promise<Target> {
  if (readyFile !== undefined) return readTarget(readyFile);
  const { daemonPid, storeLocation } = await import('../../src/platform/store/open.ts');
  const location = storeLocation(config.database.url, config.dataDir);
  if (location.kind === 'postgres') {
    throw new UsageError(
      '--ready-file: is needed on PostgreSQL, where a machine may have several daemons',
    );
  }
  const pid = daemonPid(location.file);
  if (pid === null) throw new UnreachableError(`No daemon runs on ${location.file}`);
  const { addressOf } = await import('../../src/service/status.ts');
  const address = await addressOf(config);
  if (!address) throw new UnreachableError(`No daemon has left its address in ${config.dataDir}`);
  return { pid, url: address.url };
}

function readTarget(file: string): Target {
  if (!isFileNamed(file))
    throw new UnreachableError(
      `${resolve(file)}: no daemon has written this file, or it has stopped`,
    );
  try {
    const { pid, httpUrl: url } = JSON.parse(readNamedFile(file).toString('utf8'));
    if (Number.isSafeInteger(pid) && pid > 0 && URL.canParse(url)) return { pid, url };
    throw new SyntaxError('the file lacks pid or httpUrl');
  } catch {
    throw new UsageError(`--ready-file: ${resolve(file)} is not the file that a daemon writes`);
  }
}

/** Asks a daemon for readiness. @throws UnreachableError */
async function readinessOf({ url }: Target): Promise<Readiness> {
  try {
    const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(askMs) });
    return (await answer.json()) as Readiness;
  } catch (error) {
    throw new UnreachableError(`The daemon at ${url} does not answer`, { cause: error });
  }
}

function signalDrain(pid: number): void {
  try {
    process.kill(pid, drainSignal);
  } catch (error) {
    const isForeign = codeOf(error) === 'EPERM';
    throw new UnreachableError(
      isForeign
        ? `The daemon (pid ${pid}) belongs to another account: run the command as that one`
        : `No process has the pid ${pid}: the daemon has stopped`,
      { cause: error },
    );
  }
}

/**
 * Waits until no attempt is under way.
 * @throws ExpectationError two seconds after the grace period
 */
async function untilDrained(target: Target, graceMs: number): Promise<void> {
  const { sleep, systemClock } = await import('../../src/platform/runtime/clock.ts');
  const endAt = systemClock.elapsed() + graceMs + askMs;
  for (;;) {
    const { draining } = await readinessOf(target);
    if (draining === true && (await inFlightAt(target)) === 0) return;
    if (systemClock.elapsed() > endAt) {
      throw new ExpectationError(`The daemon at ${target.url} still carries mail: see its log`);
    }
    await sleep(systemClock, pauseMs);
  }
}

async function inFlightAt({ url }: Target): Promise<number | null> {
  const text = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(askMs) })
    .then((answer) => answer.text())
    .catch(() => '');
  const found = /^svc_deliveries_in_flight(?:\{[^{}]*\})? (\d+)$/m.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
