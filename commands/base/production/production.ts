// `svc init --production`: installs the service where it can, and writes files everywhere else.
import type { Environment } from '../../../src/core/config/file.ts';
import { print } from '../output/output.ts';
import { type Ask, askForOwner, type ProductionFlags } from './answers.ts';
import { filePlanText, filesText, planFiles, writeFiles } from './files.ts';
import { install, installedText, planText, stepsOf } from './install.ts';
import type { Machine } from './machine.ts';
import { planInstallation, whyNotInstalled } from './plan.ts';

export interface Surroundings {
  machine: Machine;
  /** Function that asks; null without a terminal. */
  ask: Ask | null;
  /** Folder of the program. */
  home: string;
  env: Environment;
}

/**
 * Runs the command and prints the steps done, or with `--print` the steps to do. @throws
 * UsageError, ValidationError or ConfigError before any change; UnreachableError if a step fails,
 * or the service does not become ready
 */
export async function runProduction(
  flags: ProductionFlags,
  surroundings: Surroundings,
): Promise<void> {
  const { machine, ask, env } = surroundings;
  const reason = whyNotInstalled(flags, machine, env);
  if (reason !== null) {
    const plan = await planFiles(flags, { ask, ownName: machine.hostname() });
    const { file, answers } = plan;
    const owner = await askForOwner(flags, ask);
    if (flags.print) {
      return print(flags, { file, answers, owner, reason }, () =>
        filePlanText(plan, reason, owner),
      );
    }
    const written = await writeFiles(flags, plan, owner);
    return print(flags, written, () => filesText(written, reason));
  }
  const plan = await planInstallation(flags, surroundings);
  const { newConfig } = plan;
  const owner = await askForOwner(flags, ask);
  if (flags.print) {
    return print(flags, { steps: stepsOf(plan, owner), newConfig }, () => planText(plan, owner));
  }
  const installed = await install(plan, machine, owner);
  return print(flags, installed, () => installedText(installed));
}
