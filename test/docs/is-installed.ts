// Whether a program of the recipes is on this machine.
import { execFileSync } from 'node:child_process';

/** Returns whether a command with these arguments ends well. */
export function isInstalled(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
