// Ctrl-C and SIGTERM. A command ends at once with 130, which loses nothing in the store. The daemon
// stops in order at the first signal, and at once at the second.
import { interruptedCode } from './output/failure.ts';

function exitInterrupted(): void {
  process.exit(interruptedCode);
}

/** Ends the process on Ctrl-C. In the daemon, `firstStopSignal` replaces this. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', exitInterrupted);
}

/**
 * Calls `tell` before Ctrl-C or SIGTERM ends the command with 130. Returns a function that removes
 * the listener.
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
 * Signals within this time count once. The terminal sends Ctrl-C to the whole process group, and
 * npm passes it on, so a press arrives twice within milliseconds.
 */
const samePressMs = 250;

/**
 * Returns an object whose `call` sets a function for SIGHUP. From now on the signal does not end
 * the process. After a signal that arrived before the function was set, the function is called as
 * soon as it is set.
 */
export function onHangUp(): LaterCall {
  return onSignal('SIGHUP');
}

/** Sets a function for the signal of `svc daemon drain`, in the way of `onHangUp`. */
export function onDrain(): LaterCall {
  return onSignal(drainSignal);
}

/** Sets the function that a signal calls. Calls it at once if the signal has come already. */
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
