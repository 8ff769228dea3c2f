// Ctrl-C and SIGTERM. A command ends at once with 130, which loses nothing in the store. The daemon
// stops in order at the first signal, and at once at the second.
import { interruptedCode } from './output/failure.ts';

function exitInterrupted(): void {
  process.exit(interruptedCode);
}

/** Ends the process on Ctrl-C, for commands that run and end. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', exitInterrupted);
}

/**
 * Calls `tell` before Ctrl-C or SIGTERM ends the command with 130. The returned function removes
 * this.
 */
export function beforeInterrupt(tell: () => void): () => void {
  const onTerminate = () => {
    tell();
    exitInterrupted();
  };
  process.prependOnceListener('SIGINT', tell);
  process.once('SIGTERM', onTerminate);
  return () => {
    process.off('SIGINT', tell);
    process.off('SIGTERM', onTerminate);
  };
}

/**
 * Signals within this time count once. npm passes on the Ctrl-C that the terminal has already sent
 * to the whole group, so a press arrives twice within milliseconds.
 */
const samePressMs = 250;

/**
 * Calls a function on SIGHUP, which never ends the process after this call. A signal that arrives
 * before the function is given calls it as soon as it is.
 */
export function onHangUp(): LaterCall {
  return onSignal('SIGHUP');
}

/** Calls a function on the signal of `svc daemon drain`, as `onHangUp` does. */
export function onDrain(): LaterCall {
  return onSignal(drainSignal);
}

/** The function that a signal calls, given after the signal may have come. */
interface LaterCall {
  call(given: () => void): void;
}

function onSignal(signal: NodeJS.Signals): LaterCall {
  let then: (() => void) | null = null;
  let isAwaited = false;
  process.on(signal, () => {
    if (then) then();
    else isAwaited = true;
  });
  return {
    call(given) {
      then = given;
      if (isAwaited) given();
    },
  };
}

/** The signal by which `svc daemon drain` reaches a daemon. */
export const drainSignal = 'SIGUSR2';

/** Resolves with the first SIGTERM or SIGINT; the next signal ends the process at once. */
export function firstStopSignal(): Promise<NodeJS.Signals> {
  process.off('SIGINT', exitInterrupted);
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const now = performance.now();
      if (firstAt === undefined) {
        firstAt = now;
        resolve(signal);
      } else if (now - firstAt > samePressMs) {
        process.exit(interruptedCode);
      }
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
